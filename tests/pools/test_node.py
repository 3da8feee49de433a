"""Host memory and disk of a node, by hand; and which machines have room."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlopt import api
from rlopt.columns.joint import NO_PROGRESS, options
from rlopt.facts.files.folder import load_catalog
from rlopt.pools.checkpoints import checkpoint_sizes
from rlopt.pools.node.disk import disk_gib, weights_bytes
from rlopt.pools.node.host import base_gib, levels, node_memory_gib, sample_bytes, staged_gib
from rlopt.pools.pricing import NO_HOST_MEMORY, Needs, price_rows
from rlopt.problem import Pools, Seconds, Times
from rlopt.search.search import search
from rlopt.words import COLOCATED
from tests.costs.hand import MARKET, hand_problem
from tests.pools import parts

EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"
GIB = 2.0**30
NODES = load_catalog().nodes
ONE = np.array([1])
HERE = np.array([0])


def test_every_assumption_is_named() -> None:
    assert len(NODES.assumed) == 9
    assert set(NODES.assumed) - set(NODES.assumed_by(prepares=False)) == {"loading host share 0.5"}
    assert NODES.assumed_by(prepares=True) == NODES.assumed
    assert {"host system 4 GiB", "machine network 10 Gb/s", "sample copies 2"} <= set(NODES.assumed)


def test_samples_of_a_step_padded_to_the_longest() -> None:
    context = parts.context("grpo")
    job = context.request.job
    longest = job.prompt_tokens.max + job.response_tokens.max
    assert sample_bytes(context, 4) == pytest.approx(job.prompts_per_step * 4 * longest * NODES.sample_bytes_per_token)
    assert sample_bytes(context, 8) == 2 * sample_bytes(context, 4)


def test_frames_weigh_more_than_text() -> None:
    context = parts.context("vla")
    acts, job = context.workload.acting, context.request.job
    assert acts is not None
    frames = max(acts.frames, acts.inferences_mean)
    assert sample_bytes(context, 1) > job.prompts_per_step * frames * acts.frame_bytes


def test_a_node_holds_processes_samples_and_its_part_of_a_checkpoint() -> None:
    context = parts.context("grpo", nodes=2)
    samples = NODES.sample_copies * sample_bytes(context, 4) / GIB
    fixed = NODES.host_system_gib + 8 * NODES.host_process_gib
    for nodes in (1, 2):
        many = np.array([nodes])
        assert base_gib(context, "train", HERE, many, 4)[0] == pytest.approx(fixed + samples)
        assert base_gib(context, "rollout", HERE, many, 4)[0] == pytest.approx(fixed + samples / nodes)


def test_what_is_in_host_memory_already_is_not_copied_there() -> None:
    context = parts.context("grpo")
    saved = checkpoint_sizes(context.request, context.workload, context.calibration).resumable_bytes / GIB
    everything, weights, nothing = staged_gib(context, np.array([0, 1, 2]))
    assert everything == pytest.approx(saved)
    # AdamW keeps a master copy and two moments of 4 bytes beside weights of 2
    assert weights == pytest.approx(saved * 2 / 14)
    assert nothing == 0


def test_disk_holds_image_weights_checkpoint_and_data() -> None:
    context = parts.context("grpo", {"dataset_size": 80 * GIB})
    weights = weights_bytes(context, "train") / GIB
    saved = checkpoint_sizes(context.request, context.workload, context.calibration).resumable_bytes / GIB
    fixed = NODES.disk_image_gib + NODES.disk_logs_gib
    found = disk_gib(context, "train", np.array([1, 4]))
    assert found == pytest.approx([fixed + weights + (saved + 80) / n for n in (1, 4)])
    policy = context.workload.role("policy").model.params * 2 / GIB
    assert disk_gib(context, "rollout", ONE)[0] == pytest.approx(fixed + policy)


def priced(host: float, offload: float, left_out: Counter[str] | None = None, known: float | None = 256.0) -> Pools:
    """One node of the first kind of machine, of which two offers exist."""
    offers = tuple(replace(o, shape=replace(o.shape, host_memory_gib=known)) for o in MARKET.offers)
    limit = np.full(3, known or 0.0)
    market = replace(MARKET, offers=offers, host_memory_gib=limit)
    given: dict[str, Any] = {"times": Times.same(Seconds.zero(1)), "once": Seconds.zero(1)}
    whole = ("group_size", "update_precision", "estimate", "variant", "environment", "precision", "score_precision")
    given |= {name: np.zeros(1, dtype=np.int64) for name in whole}
    needs = Needs.of(HERE, ONE, host, 10.0, offload)
    return price_rows(market, np.zeros(3), np.zeros((2, 1)), needs, given, left_out)


def test_too_little_host_memory_is_counted() -> None:
    left_out: Counter[str] = Counter()
    assert len(priced(256.0, 0.0, left_out)) == 2
    assert not left_out
    assert len(priced(256.1, 0.0, left_out)) == 0
    assert left_out == {NO_HOST_MEMORY: 2}


def test_where_host_memory_is_unknown_nothing_is_offloaded_and_the_rest_passes() -> None:
    found = priced(5000.0, 0.0, known=None)
    assert len(found) == 2
    assert found.host_gib.tolist() == [5000.0, 5000.0]
    assert found.disk_gib.tolist() == [10.0, 10.0]
    assert len(priced(100.0, 1.0, known=None)) == 0


@pytest.mark.parametrize(
    ("stated", "allowed", "expected"),
    [
        ((64.0, None, 256.0), (64.0, 0.0, 256.0), [64.0, np.nan, 256.0]),  # no limit
        ((64.0, None, 256.0), (100.0, 100.0, 100.0), [64.0, 100.0, 100.0]),
        ((64.0, None, 256.0), (0.0, 0.0, 0.0), [0.0, 0.0, 0.0]),
    ],
)
def test_a_limit_bounds_the_whole_host_memory(
    stated: tuple[float | None, ...], allowed: tuple[float, ...], expected: list[float]
) -> None:
    offers = tuple(
        replace(o, shape=replace(o.shape, host_memory_gib=size)) for o, size in zip(MARKET.offers, stated, strict=True)
    )
    found = node_memory_gib(replace(MARKET, offers=offers, host_memory_gib=np.array(allowed)))
    assert found.tolist() == pytest.approx(expected, nan_ok=True)


def test_a_limit_is_held_against_what_every_pool_needs() -> None:
    request = api.load(next(EXAMPLES.glob("07-*.yaml")))
    free, limited = (api.problem_of(request.replaced("limits.host_memory", most)) for most in (None, 20 * GIB))
    for name in ("training", "rollout", "colocated"):
        needed = getattr(free, name).host_gib
        assert needed.max() > 20.0, name
        kept = getattr(limited, name).host_gib
        assert (kept <= 20.0).all(), name
    assert limited.excluded[NO_HOST_MEMORY] > free.excluded.get(NO_HOST_MEMORY, 0)


def test_rows_with_room_on_other_offers_are_kept_apart() -> None:
    sizes = (64.0, None, 256.0)
    offers = tuple(
        replace(o, shape=replace(o.shape, host_memory_gib=size)) for o, size in zip(MARKET.offers, sizes, strict=True)
    )
    market = replace(
        MARKET, offers=offers, topology=np.zeros(3, dtype=np.int64), host_memory_gib=np.array([64.0, 0.0, 256.0])
    )
    assert node_memory_gib(market).tolist()[::2] == [64.0, 256.0]
    need = np.array([10.0, 64.0, 65.0, 256.0, 257.0])
    found = levels(market, np.zeros(5, dtype=np.int64), need, np.zeros(5))
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert len(set(found.tolist())) == 3
    moved = levels(market, np.zeros(2, dtype=np.int64), np.array([10.0, 10.0]), np.array([0.0, 1.0]))
    assert moved[0] != moved[1]  # the second has no room where memory is unknown


def test_plans_that_make_no_progress_are_counted() -> None:
    problem = hand_problem()
    hopeless = replace(problem.colocated, failures_per_hour=np.full(3, 1000.0))
    problem = replace(
        problem, colocated=hopeless, request=problem.request.replaced("choices.placements", ("colocated",))
    )
    left_out: Counter[str] = Counter()
    assert len(options(problem, COLOCATED, np.arange(3), None, left_out=left_out)) == 0
    assert left_out == {NO_PROGRESS: 5}  # two tiers in the north, one in the south
    found = search(problem, "cost")
    assert not len(found.columns)
    assert found.excluded[NO_PROGRESS] > 0
