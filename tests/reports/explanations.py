"""Explanations made by hand: one of a plan, one of why there is none."""

from __future__ import annotations

from rlopt.answers.explanation import Engineering, Explanation, MovedLimit, Over, Rival, Worth
from tests.reports import plans


def of_plan() -> Explanation:
    """A deadline with a price, a floor without one, and a rival of each verdict."""
    plan = plans.optimal()
    assert plan.cost is not None
    assert plan.time is not None
    usd, hours = plan.cost.total_usd, plan.time.confident_hours
    deadline = Worth(
        constraint="limits.deadline",
        value=hours,
        limit=hours + 0.5,
        unit="h",
        step=1.0,
        usd_per_unit=12.5,
        hours_per_unit=-0.9,
        looser=MovedLimit(limit=hours + 1.5, total_usd=usd - 12.5, hours=hours + 0.9, value=hours + 0.9),
        tighter=None,
        without=MovedLimit(limit=None, total_usd=usd - 300.0, hours=hours + 40.0, value=hours + 40.0),
    )
    floor = Worth(
        constraint="floors.group_size",
        value=8.0,
        limit=8.0,
        unit="samples",
        step=1.0,
        usd_per_unit=0.0,
        hours_per_unit=0.0,
        looser=MovedLimit(limit=7.0, total_usd=usd, hours=hours, value=8.0),
        tighter=None,
        without=MovedLimit(limit=None, total_usd=usd, hours=hours, value=8.0),
    )
    over = [Over(constraint="limits.deadline", value=hours + 30.0, limit=hours + 0.5, unit="h")]
    share = [Over(constraint="floors.on_demand_share", value=0.0, limit=0.3, unit="share")]
    rivals = [
        Rival(
            axis="gpu",
            value="A100-80GB",
            verdict="dearer",
            total_usd=usd + 210.0,
            hours=hours + 1.0,
            machines="16 A100-80GB on_demand at lambda",
            by_dimension={"compute": 200.0, "storage": 10.0},
        ),
        Rival(axis="gpu", value="L40S", verdict="late", total_usd=usd + 90.0, hours=hours + 30.0, over=over),
        Rival(
            axis="gpu", value="L4", verdict="memory", missing_gib=17.25, stage="update policy", note="said elsewhere"
        ),
        Rival(axis="gpu", value="MI300X", verdict="facts", note="the failure rate is not known"),
        Rival(axis="pricing", value="spot", verdict="limits", total_usd=usd - 400.0, hours=hours, over=share),
        Rival(axis="placement", value="async", verdict="unproven"),
        Rival(
            axis="size",
            value="train on 5 of 6 GPUs",
            verdict="dearer",
            total_usd=usd + 3.63,
            hours=hours + 0.4,
            machines="5 H100-SXM on_demand at lambda",
            by_dimension={"compute": 3.63},
        ),
    ]
    apart = Engineering(
        placement="async",
        simplest="colocated",
        chosen=False,
        saved_usd_per_run=12.3,
        more_hours=8.0,
        more_usd=720.0,
        pays_after_runs=59,
    )
    return Explanation(plan=plan, worth=[deadline, floor], rivals=rivals, engineering=[apart])


def of_no_plan() -> Explanation:
    """The changes of an infeasible plan, a misfit, and a search that was stopped."""
    plan = plans.infeasible()
    singles = [change for change in plan.relaxations if not isinstance(change, list)]
    lists = [change for change in plan.relaxations if isinstance(change, list)]
    together = [change.model_copy(update={"total_usd": 1.0}) for change in (lists[0] if lists else singles)]
    misfit = [
        "training the policy takes 121.3 GiB of each GPU in the layout that comes closest, on 8 L40S: 40.5 GiB can be "
        "used, 80.8 GiB are missing",
        "the largest part is weights with 54.7 GiB",
    ]
    return Explanation(plan=plan, changes=singles, together=together, misfit=misfit, complete=False)
