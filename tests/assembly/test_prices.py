"""What a plan says of the prices and rates that it rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.assembly.notes import reclaim_warnings
from rlopt.facts import FailureRate
from rlopt.market.price_book import zone_tariff
from rlopt.market.services import unpriced_requests
from tests.costs.hand import columns_of, hand_problem
from tests.costs.test_by_hand import APART_HOT, NORTH_HOT, SPOT_HOT
from tests.costs.test_twins import plan_of
from tests.market.test_tariffs import book, store


def test_tiers_whose_requests_have_no_price_are_named_where_they_are_chosen() -> None:
    problem = hand_problem()
    north, south = problem.tariffs
    hot, cold = north.tiers
    for tiers, said in (
        ((hot, cold), []),
        (
            (replace(hot, unpriced=("write", "read")), cold),
            ["hot: the price of a request to write or read is not known: 0 in bill and choice of tier"],
        ),
        (
            (hot, replace(cold, unpriced=("read",))),  # best copies and history stand there
            ["cold: the price of a request to read is not known: 0 in bill and choice of tier"],
        ),
    ):
        changed = replace(problem, tariffs=(replace(north, tiers=tiers), south))
        plan = plan_of(columns_of(changed), NORTH_HOT, changed)
        assert [text for text in plan.warnings if "request" in text] == said


def test_which_requests_have_no_price() -> None:
    priced = store("north", "n1", "hot", 0.73)  # at 0: free
    assert unpriced_requests(priced) == ()
    assert unpriced_requests(replace(priced, put_per_1000=None)) == ("write",)
    both = replace(priced, put_per_1000=None, get_per_1000=None)
    assert unpriced_requests(both) == ("write", "read")
    assert unpriced_requests(replace(both, kind="block")) == ()
    (tier,) = zone_tariff(book(storage=(both,)), "north", "n1").tiers
    assert tier.unpriced == ("write", "read")


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
