"""The list of plans to choose from: what a faster one costs and a slower one saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlopt.answers.plan import Plan, Pool
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.choice import Choice
from rlopt.reports.text.frontier import MARK, knee_in_words


@dataclass(frozen=True)
class SpeedRow:
    """A plan that can be chosen, in the language in use."""

    number: int
    hours: str
    total: str
    saves: str
    machines: str
    placement: str
    mark: str
    first: bool


@dataclass(frozen=True)
class Speeds:
    """Plans on the frontier and beside it, and what the marked one means."""

    verdict: str
    on_frontier: list[SpeedRow]
    beside: list[SpeedRow]
    knee: str


def speeds(chosen: Sequence[Choice]) -> Speeds:
    """Rows by hours, each with what it saves against the row above; those beside the frontier against the plan."""
    on = [one for one in chosen if one.on_frontier]
    plans = [one.plan for one in on]
    unproven = sum(plan.status != "optimal" for plan in plans)
    verdict = "Each is proven: nothing as fast costs less."
    if unproven:
        verdict = f"{unproven} of them not proven (marked *): the time limit came first."
    marked = next((place for place, one in enumerate(on) if one.is_knee), None)
    within = marked is not None and 0 < marked < len(plans) - 1
    before = [None, *(one.usd for one in on)]
    plan = next(one for one in chosen if one.number == 0)
    return Speeds(
        verdict=tr(verdict),
        on_frontier=[_row(one, faster) for one, faster in zip(on, before, strict=False)],
        beside=[_row(one, plan.usd) for one in chosen if not one.on_frontier],
        knee=tr(knee_in_words(plans, marked)) if within and marked is not None else "",
    )


def _row(one: Choice, against: float | None) -> SpeedRow:
    plan = one.plan
    return SpeedRow(
        number=one.number,
        hours=tr(words.hours(one.hours)),
        total=words.usd(one.usd) + ("" if plan.status == "optimal" else " *"),
        saves="" if against is None else _change(one.usd - against),
        machines=" + ".join(_machines(pool) for pool in plan.pools if pool.gpu),
        placement=_placement(plan),
        mark=MARK if one.is_knee else "",
        first=one.number == 0,
    )


def _machines(pool: Pool) -> str:
    paid = tr(words.PRICING.get(pool.pricing, pool.pricing))
    return f"{pool.nodes} × {pool.gpus_per_node} {pool.gpu} {pool.provider} {paid}"


def _change(usd: float) -> str:
    """``−$8.72`` where it saves, ``+$1.20`` where it costs more."""
    return f"−{words.usd(-usd)}" if usd < 0 else f"+{words.usd(usd)}"


def _placement(plan: Plan) -> str:
    made = plan.decisions
    if made is None:
        return ""
    size = "" if made.group_size is None else f", K {made.group_size}"
    return tr(made.placement) + size
