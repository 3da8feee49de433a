"""Collapses, waits, spare nodes and copied responses at real prices: what each changes, and when it pays."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.request import Request
from tests.studies.small import asked, solved, usd

STEPS: dict[str, Any] = {"steps": 1000}
NO_HISTORY: dict[str, Any] = {"checkpoints": {"keep_recent": 1, "history_every": None}}
APART: dict[str, Any] = {"pricing": ["spot"], "placements": ["disaggregated", "async"]}
LONG: dict[str, Any] = {"steps": 200, "response_tokens": {"mean": 8000, "max": 16000}}


def grpo(**sections: Any) -> Request:
    """A thousand steps of the small request."""
    return asked("grpo", job=STEPS | sections.pop("job", {}), **sections)


def item(plan: Plan, name: str) -> float:
    """USD of one line of the bill."""
    assert plan.cost is not None
    return sum(line.usd for line in plan.cost.lines if line.item == name)


def interval(plan: Plan) -> int:
    """Steps between two saves."""
    assert plan.decisions is not None
    return plan.decisions.checkpoint.interval_steps


def made(plan: Plan) -> dict[str, Any]:
    """How the plan gets over lost machines."""
    assert plan.decisions is not None
    assert plan.decisions.recovery is not None
    return plan.decisions.recovery


def machine(plan: Plan) -> str:
    """The first pool's machine."""
    return plan.pools[0].instance_type


def test_collapses_make_saves_frequent_where_no_history_is_kept() -> None:
    steady, shaky = solved(grpo(floors=NO_HISTORY)), solved(grpo(floors=NO_HISTORY, job={"divergences": 3}))
    assert interval(steady) == 1000
    assert interval(shaky) < 100
    assert item(shaky, "divergence") > 0.0


def test_a_longer_way_between_history_copies_makes_collapses_dearer() -> None:
    def lost(every: int) -> float:
        floors = {"checkpoints": {"keep_recent": 1, "history_every": every}}
        return item(solved(grpo(floors=floors, job={"divergences": 2})), "divergence")

    # half of it again, each time: ten times as many steps, restarts beside
    assert lost(500) - lost(250) == pytest.approx((lost(250) - lost(125)) * 2, rel=0.02)


def test_no_collapse_and_no_wait_are_the_plain_request_to_the_cent() -> None:
    plain = solved(grpo())
    same = solved(grpo(job={"divergences": 0}, limits={"wait": "0h", "deadline_from": "request"}, recovery={}))
    assert usd(same) == usd(plain)
    assert same.decisions == plain.decisions


@pytest.mark.parametrize(("start", "quickest"), [("provisioning", "p5.48xlarge"), ("request", "p4de.24xlarge")])
def test_a_machine_that_is_waited_for_is_the_quickest_only_from_provisioning(start: str, quickest: str) -> None:
    limits = {"deadline_from": start, "wait": [{"gpu": "H100", "wait": "6h"}, {"gpu": "L4", "wait": "9d"}]}
    plan = solved(grpo(objective="time", limits=limits))
    assert machine(plan) == quickest
    assert plan.time is not None
    assert plan.time.waiting_hours == (6.0 if quickest.startswith("p5") else 0.0)


def test_people_who_wait_choose_another_machine() -> None:
    costs, wait = {"engineer_hour": "90 USD", "waiting_people": 0.5}, [{"gpu": "H100", "wait": "12h"}]
    assert machine(solved(grpo(costs=costs))).startswith("p5")
    assert machine(solved(grpo(costs=costs, limits={"wait": wait}))).startswith("p4de")
    few = solved(grpo(costs=costs | {"waiting_people": 0.01}, limits={"wait": wait}))
    assert machine(few).startswith("p5")
    assert item(few, "waiting people") == pytest.approx(12 * 0.01 * 90)


def test_a_spare_node_is_paid_like_one_that_trains_and_counts_as_gpus() -> None:
    spot = {"gpus": ["A100-80GB"], "pricing": ["spot"]}
    recovery = {"replace_wait": "30d"}
    none, one, either = (
        solved(grpo(choices=spot, limits={"max_gpus": 16}, recovery=recovery | {"spare_nodes": count}))
        for count in (0, 1, [0, 1])
    )
    assert [pool.gpus for pool in one.pools] == [8, 8, 0]
    assert item(one, "spare node") == pytest.approx(item(one, "pool main"))
    assert item(one, "loss to failures") < item(none, "loss to failures")
    assert usd(either) == pytest.approx(min(usd(none), usd(one)), abs=0.005)
    full = solved(grpo(choices=spot, limits={"max_gpus": 8}, recovery=recovery | {"spare_nodes": 1}))
    assert full.status == "infeasible"


def test_what_an_elastic_launcher_and_copied_responses_save() -> None:
    def plan(launcher: str, rollouts: Any, **job: Any) -> Plan:
        recovery = {"replace_wait": "48h", "launcher": launcher}
        return solved(
            asked(
                "grpo",
                job=LONG | job,
                choices=APART,
                limits={"max_gpus": 16},
                recovery=recovery,
                checkpoint={"rollouts": rollouts},
            )
        )

    either = ["none", {"every": 512}]
    rigid, elastic = plan("trl", "none"), plan("cosmos-rl", "none")
    assert usd(elastic) < usd(rigid)
    assert sum(pool.lost_per_hour for pool in elastic.pools) > 0.0 == sum(pool.lost_per_hour for pool in rigid.pools)
    copied = plan("cosmos-rl", either)
    assert made(copied) == {"spare_nodes": 0, "rollouts_every": 512, "elastic": True}
    assert usd(copied) < usd(elastic)
    # copies help nothing where any loss stops the run, and little where responses are short and many
    assert made(plan("trl", either))["rollouts_every"] is None
    assert made(plan("cosmos-rl", either, response_tokens={"mean": 600, "max": 900}))["rollouts_every"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"job": {"divergences": 1}},
        {"job": {"pilots": {"runs": 2, "share": 0.1}}},
        {"recovery": {"replace_wait": "24h"}},
        {"recovery": {"spare_nodes": 1}, "limits": {"max_gpus": 16}},
        {"checkpoint": {"rollouts": {"every": 64}}},
        {"limits": {"wait": "1h"}, "costs": {"engineer_hour": "90 USD", "waiting_people": 1}},
        {"costs": {"engineer_hour": "90 USD", "hours_per_failure": 4}},
    ],
)
def test_more_to_get_over_is_never_cheaper(change: dict[str, Any]) -> None:
    assert usd(solved(grpo(**change))) > usd(solved(grpo()))
