"""Memory differs by the precision of training: each precision is fitted for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api

EXAMPLE = next((Path(__file__).parents[2] / "examples" / "requests").glob("07-*.yaml"))
OPEN = [
    "floors.update_precision=fp8",
    "floors.score_precision=fp8",
    "floors.because=a comparison, nothing is run",
    "limits.quotas=[]",
]


def total(precisions: str) -> float:
    plan = api.solve(api.load(EXAMPLE, [*OPEN, f"choices.precision.update={precisions}"]), short_frontier=False)
    assert plan.cost is not None
    return plan.cost.total_usd


def test_of_two_precisions_the_cheaper_wins_whatever_their_order() -> None:
    best = min(total("[bf16]"), total("[fp8]"))
    assert total("[bf16, fp8]") == pytest.approx(best, rel=1e-9)
    assert total("[fp8, bf16]") == pytest.approx(best, rel=1e-9)
