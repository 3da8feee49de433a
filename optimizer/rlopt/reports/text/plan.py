"""A plan as a person reads and signs it: what it costs, when it is done, why it is so, what it rests on."""

from __future__ import annotations

from rich.console import RenderableType

from rlopt.answers.plan import Plan
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.layout import facts, heading, paragraph
from rlopt.reports.text import (
    bill as text_bill,
)
from rlopt.reports.text import (
    certainty as text_certainty,
)
from rlopt.reports.text import (
    choices as text_choices,
)
from rlopt.reports.text import (
    infeasible as text_infeasible,
)
from rlopt.reports.text import (
    pools as text_pools,
)
from rlopt.reports.text import (
    sources as text_sources,
)
from rlopt.reports.text import (
    stress as text_stress,
)
from rlopt.reports.text import (
    time as text_time,
)
from rlopt.reports.text import (
    usage as text_usage,
)


def plan_report(plan: Plan) -> list[RenderableType]:
    """Lay a plan out for the terminal, whatever its status.

    Parameters
    ----------
    plan
        Optimal, feasible or infeasible.

    Returns
    -------
    list
        Rich renderables from top to bottom; `rlopt.reports.layout` prints them.
    """
    if plan.status == "infeasible":
        return [
            *text_infeasible.sections(plan),
            *text_sources.warnings(plan),
            *text_sources.proof(plan),
            *text_sources.sources(plan),
        ]
    if plan.cost is None or plan.time is None or plan.decisions is None:
        return [
            paragraph(_nothing_found(plan), style="bold"),
            *text_sources.warnings(plan),
            *text_sources.proof(plan),
        ]
    return [
        paragraph(headline(plan), style="bold"),
        paragraph(standing(plan)),
        *[paragraph(text) for text in per_point(plan)],
        *heading("Machines"),
        *text_pools.machines(plan),
        *heading("Time"),
        *text_time.sections(plan.time, plan.worst, text_certainty.meets_deadline(plan)),
        *heading("Bill"),
        text_bill.bill(plan.cost, plan.currency, plan.exchange_rates),
        *text_certainty.bills(plan),
        *_usage(plan),
        *heading("Decisions"),
        text_choices.decisions(plan),
        *text_choices.binding(plan),
        *text_choices.alternatives(plan),
        *text_choices.near_optimal(plan),
        *text_stress.stress(plan),
        *text_sources.warnings(plan),
        *text_sources.proof(plan),
        *text_sources.sources(plan),
    ]


def headline(plan: Plan) -> str:
    """One sentence: what the job costs and when it is done."""
    if plan.cost is None or plan.time is None:
        return _nothing_found(plan)
    total = words.money(plan.cost.total_usd, plan.currency, plan.exchange_rates)
    time = plan.time
    text = (
        f"{_name(plan)} costs {total} and is expected to be done in {words.hours(time.expected_hours)}; "
        f"{words.chances(time.confidence)} are done within {words.hours(time.confident_hours)}"
    )
    if plan.worst is not None:
        text += f", even if every step takes {plan.worst.times:g} times as long"
    if time.deadline_hours is not None:
        text += f", the deadline is {words.hours(time.deadline_hours)}"
    return text + "."


def standing(plan: Plan) -> str:
    """One sentence: how sure it is that no better plan exists."""
    solver = plan.solver
    if plan.status == "optimal":
        better = "costs less" if solver.objective == "cost" else "is done sooner"
        return f"Proven: no plan that keeps every limit and floor {better}."
    text = "Not proven: the search was stopped by its time limit, so this is the best plan found so far."
    if solver.objective == "time":
        if solver.bound_hours is not None:
            text += f" None is done sooner than in {words.hours(solver.bound_hours)}."
    elif solver.bound_usd and solver.gap is not None:
        text += (
            f" A better one could save up to {words.percent(solver.gap)};"
            f" no plan costs less than {words.usd(solver.bound_usd)}."
        )
    return text


def per_point(plan: Plan) -> list[str]:
    """One sentence where the request states a target: what a point of it costs."""
    each = plan.per_point
    if each is None:
        return []
    cost = words.money(each.usd_per_point, plan.currency, plan.exchange_rates)
    points = f"{words.number(each.points)} {'point' if each.points == 1 else 'points'}"
    return [f"Each point of {each.metric} costs {cost}: the whole bill over {points}."]


def _usage(plan: Plan) -> list[RenderableType]:
    return [] if plan.usage is None else [*heading("Usage"), facts(text_usage.usage(plan.usage))]


def _name(plan: Plan) -> str:
    return plan.job or tr("This job")


def _nothing_found(plan: Plan) -> str:
    return (
        f"{_name(plan)}: the search was stopped by its time limit before any plan was found. "
        "That proves nothing; allow more time."
    )
