"""What a plan says of the prices and rates that it rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.facts import FailureRate
from rlopt.studies.prices import reclaim_warnings
from tests.costs.hand import columns_of, hand_problem
from tests.costs.test_by_hand import APART_HOT, NORTH_HOT, SPOT_HOT
from tests.costs.test_twins import plan_of


def rate(provider: str, device: str = "any") -> FailureRate:
    note = "mean of one provider; its arithmetic"
    return FailureRate(f"reclaim/{provider}", provider, device, "spot", "reclaim", None, 0.1, 0.0, 1.0, "test", note)


SAID = "north publishes no rate at which it reclaims spot machines: reclaim/any stands in (mean of one provider)"


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((rate("any"),), [SAID]),
        ((rate("any"), rate("south")), [SAID]),
        ((rate("any"), rate("north", "U")), [SAID]),  # of another GPU
        ((rate("any"), rate("north")), []),
        ((rate("any"), rate("north", "T")), []),
    ],
)
def test_a_reclaim_rate_of_no_provider_stands_in(rates: tuple[FailureRate, ...], said: list[str]) -> None:
    problem = hand_problem()
    problem = replace(problem, catalog=replace(problem.catalog, reliability=rates))
    columns = columns_of(problem)
    for j, wanted in ((SPOT_HOT, said), (APART_HOT, said), (NORTH_HOT, [])):
        plan = plan_of(columns, j, problem)
        assert any(pool.pricing == "spot" for pool in plan.pools) == (j != NORTH_HOT)
        assert [text for text in plan.warnings if "reclaims" in text] == wanted
        twice = [*plan.pools, *plan.pools]
        assert reclaim_warnings(twice, problem.catalog) == wanted
