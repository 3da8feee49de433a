"""Batches that launchers take: whole micro-batches on every rank, at least the plan's prompts, at most its memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt import api
from rlopt.answers.plan import LayoutChoice, Memory, Plan, Pool
from rlopt.api import catalog
from rlopt.launchers.exports import Run
from rlopt.launchers.exports.batches import batch_of
from rlopt.request import Request


def run_of(plan: Plan, request: Request, prompts: int, group: int, updates: int, micro: int) -> Run:
    """The quickstart's plan with other sizes."""
    pools = [_pool(pool, micro) if "update" in pool.roles else pool for pool in plan.pools]
    assert plan.decisions is not None
    decisions = plan.decisions.model_copy(update={"group_size": group})
    job = request.job.model_copy(update={"prompts_per_step": prompts, "updates_per_step": updates})
    changed = plan.model_copy(update={"pools": pools, "decisions": decisions})
    return Run(changed, request.model_copy(update={"job": job}), {}, {})


def _pool(pool: Pool, micro: int) -> Pool:
    return pool.model_copy(update={"layout": (pool.layout or LayoutChoice()).model_copy(update={"micro_batch": micro})})


@pytest.fixture(scope="module")
def quickstart(root) -> tuple[Plan, Request]:  # type: ignore[no-untyped-def]
    request = api.load(root / "examples" / "quickstart.yaml")
    return api.solve(request, short_frontier=False), request


sizes = st.tuples(st.integers(1, 600), st.integers(1, 32), st.integers(1, 4), st.integers(1, 16), st.integers(1, 48))


@given(sizes=sizes)
def test_every_batch_divides(quickstart: tuple[Plan, Request], sizes: tuple[int, int, int, int, int]) -> None:
    prompts, group, updates, micro, ranks = sizes
    batch = batch_of(run_of(*quickstart, prompts, group, updates, micro), ranks)
    samples = batch.prompts * group
    assert batch.prompts >= prompts
    assert batch.prompts % updates == 0
    assert samples % (updates * ranks * batch.micro_batch) == 0
    assert batch.micro_batch * batch.accumulation * ranks * updates == samples
    assert 1 <= batch.micro_batch <= micro
    assert batch.prompts - prompts < updates * ranks or batch.prompts <= 1.05 * prompts
    said = " ".join(str(gap) for gap in batch.gaps)
    assert (batch.prompts != prompts) == ("so" in said and "prompts a step" in said)


def test_a_batch_that_divides_stays_as_planned(quickstart: tuple[Plan, Request]) -> None:
    batch = batch_of(run_of(*quickstart, 128, 16, 1, 2), 8)
    assert (batch.prompts, batch.micro_batch, batch.accumulation, batch.gaps) == (128, 2, 128, ())


def test_512_sequences_over_12_ranks_grow_to_keep_the_micro_batch(quickstart: tuple[Plan, Request]) -> None:
    batch = batch_of(run_of(*quickstart, 512, 1, 1, 2), 12)
    assert (batch.prompts, batch.micro_batch, batch.accumulation) == (528, 2, 22)
    assert "3.1 % more samples" in str(batch.gaps[0])


def test_a_prime_number_of_ranks_shrinks_the_micro_batch(quickstart: tuple[Plan, Request]) -> None:
    batch = batch_of(run_of(*quickstart, 14, 1, 1, 4), 7)
    assert (batch.prompts, batch.micro_batch, batch.accumulation) == (14, 2, 1)


def test_an_engine_alone_takes_what_the_plan_needs_of_its_card(quickstart: tuple[Plan, Request]) -> None:
    plan, request = quickstart
    pool = next(pool for pool in plan.pools if pool.name == "rollout")
    assert pool.memory is not None
    cards = {str(pool.gpu): 45.0}
    run = replace(run_of(plan, request, 128, 8, 1, 1), card_gib=cards)
    assert run.engine_fraction(pool) == int(100 * pool.memory.needed_gib / 45.0) / 100
    assert replace(run, card_gib={}).engine_fraction(pool) is None


def test_an_engine_beside_training_leaves_the_states_that_stay(quickstart: tuple[Plan, Request]) -> None:
    plan, request = quickstart
    parts = {"weights": 21.0, "optimizer": 12.0, "gradients": 0.0, "kv_cache": 33.0, "buffers": 2.0, "runtime": 3.0}
    memory = Memory(needed_gib=71.0, capacity_gib=72.0, host_gib=None, stage="generate", parts=parts)
    trainer = next(pool for pool in plan.pools if "update" in pool.roles)
    alone = trainer.model_copy(update={"memory": memory, "roles": ["generate", "update"]})
    policy = replace(catalog().model("Qwen2.5-7B"), params=6.0 * 2**30)  # 12 GiB in bf16
    colocated = plan.model_copy(update={"pools": [alone]})
    run = Run(colocated, request, {"policy": policy}, {str(trainer.gpu): 80.0})
    bf16 = run.made.precision.model_copy(update={"rollout": "bf16"})
    at = replace(run, plan=colocated.model_copy(update={"decisions": run.made.model_copy(update={"precision": bf16})}))
    assert at.engine_fraction(alone) == 0.62  # 71 - (21 - 12) - 12 = 50 of 80 GiB
    updating = alone.model_copy(update={"memory": memory.model_copy(update={"stage": "update policy"})})
    other = replace(at, plan=at.plan.model_copy(update={"pools": [updating]}))
    assert other.engine_fraction(updating) == 0.48  # 72 - 21 - 12 = 39 of 80 GiB
