"""Inputs that shape memory and time reach the plan: kernels of the training stack, percentiles of lengths."""

from __future__ import annotations

import pytest

from rlopt.answers.plan import Plan
from tests.examples import runs


def training(plan: Plan) -> dict[str, float]:
    """Memory parts of the pool that trains."""
    pool = next(pool for pool in plan.pools if "update" in pool.roles)
    assert pool.memory is not None
    return dict(pool.memory.parts)


def test_a_chunked_loss_holds_fewer_logits_and_never_costs_more() -> None:
    name = runs.name_of("03")
    whole, chunked = runs.solved(name), runs.solved(name, "job.kernels.loss=chunked")
    assert training(chunked)["logits"] < 0.2 * training(whole)["logits"]
    assert runs.total(chunked) <= runs.total(whole) * (1.0 + 1e-9)


def test_plain_attention_holds_scores_and_never_costs_less() -> None:
    name = runs.name_of("02")
    assert runs.total(runs.solved(name, "job.kernels.attention=plain")) >= runs.total(runs.solved(name))


@pytest.mark.parametrize("number", ["07", "09"])
def test_a_longer_tail_never_costs_less(number: str) -> None:
    """The longest response ends a synchronous step: with one mean, a later 99th percentile waits longer."""
    name = runs.name_of(number)
    lengths = runs.request(name).job.response_tokens
    early = lengths.mean + 0.35 * (lengths.max - lengths.mean)
    late = lengths.mean + 0.95 * (lengths.max - lengths.mean)
    alone = "choices.placements=[colocated]"
    totals = [runs.total(runs.solved(name, f"job.response_tokens.p99={p99:.0f}", alone)) for p99 in (early, late)]
    assert totals[0] < totals[1]
