"""Parallel layouts: products, divisibility, and nothing that was allowed lost when more GPUs are."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.pools.layouts import (
    CONTEXT_SPLIT_TOKENS,
    LONGEST_MICRO_BATCH_TOKENS,
    ZERO3,
    LayoutSpace,
    layouts,
    node_counts,
)

DENSE = LayoutSpace(heads=24, layers=40, experts=0, longest_tokens=9000, sequences=64)
EXPERTS = LayoutSpace(heads=64, layers=48, experts=128, longest_tokens=33000, sequences=512)


@pytest.mark.parametrize("space", [DENSE, EXPERTS], ids=["dense", "experts"])
@pytest.mark.parametrize(("gpus", "per_node"), [(1, 1), (2, 1), (4, 4), (8, 8), (16, 8), (24, 8), (48, 4), (64, 8)])
def test_what_every_layout_keeps_to(space: LayoutSpace, gpus: int, per_node: int) -> None:
    found = layouts(gpus, per_node, space)
    assert len(found.tp) > 0
    assert (found.tp * found.pp * found.cp * found.dp == gpus).all()
    assert (found.tp <= min(per_node, 8)).all()
    assert (space.heads % found.tp == 0).all()
    assert (found.pp <= space.layers).all()
    assert (found.dp <= space.sequences).all()
    assert ((found.cp == 1) | (space.longest_tokens >= found.cp * CONTEXT_SPLIT_TOKENS)).all()
    assert ((found.micro_batch == 1) | (found.micro_batch * space.longest_tokens <= LONGEST_MICRO_BATCH_TOKENS)).all()
    assert ((found.micro_batch == 1) | (found.micro_batch <= space.sequences)).all()
    assert ((found.vp == 1) | (space.layers % (found.pp * found.vp) == 0)).all()
    assert ((found.vp == 1) | (found.pp > 1)).all()
    sharded = found.sharding == ZERO3
    assert (found.pp[sharded] == 1).all()
    assert (found.dp * found.cp)[sharded].min(initial=2) > 1
    assert (found.ep[sharded] == 1).all()
    assert ((found.dp * found.cp * found.tp) % found.ep == 0).all()
    assert (found.ep == 1).all() if not space.experts else (space.experts % found.ep == 0).all()
    assert not found.recompute.any()
    assert not found.offload.any()


@pytest.mark.parametrize("space", [DENSE, EXPERTS], ids=["dense", "experts"])
def test_no_layout_stands_twice(space: LayoutSpace) -> None:
    found = layouts(32, 8, space)
    table = np.stack([found.tp, found.pp, found.vp, found.dp, found.cp, found.ep, found.sharding, found.micro_batch])
    assert np.unique(table, axis=1).shape == table.shape


def test_one_gpu_has_micro_batches_to_choose_and_nothing_else() -> None:
    found = layouts(1, 8, DENSE)
    assert found.micro_batch.tolist() == [1, 2, 4]  # 8 x 9000 tokens are more than a micro-batch may hold
    assert set(found.tp.tolist()) == set(found.dp.tolist()) == {1}


def test_more_ranks_than_sequences_are_no_layout() -> None:
    few = LayoutSpace(heads=1, layers=1, experts=0, longest_tokens=100, sequences=2)
    assert len(layouts(4, 8, few).tp) == 0
    assert set(layouts(2, 8, few).dp.tolist()) == {2}


def test_a_larger_limit_only_ever_adds_node_counts() -> None:
    before: set[int] = set()
    for most in range(200):
        now = set(node_counts(most))
        assert before <= now
        assert all(1 <= n <= most for n in now)
        before = now
    assert node_counts(0) == ()
    assert node_counts(20) == (*range(1, 17), 18, 20)
    assert node_counts(80)[-5:] == (56, 60, 64, 72, 80)
