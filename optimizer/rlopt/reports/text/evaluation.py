"""A configuration that somebody has: does it fit, what does it take and break, and what would the optimum change."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from rlopt.answers.evaluation import Broken, ConfigurationEvaluation, Misfit, Remedy, Said
from rlopt.answers.plan import Plan
from rlopt.language import Name
from rlopt.reports import words
from rlopt.reports.layout import TABLE_WIDTH, Fitting, bullets, heading, paragraph, table
from rlopt.reports.text.bill import bill
from rlopt.reports.text.diff import CENT, choices, money

LEAST_HOURS = 1.0 / 120.0
"""Half a minute: less reads as no difference."""
MEMORY = ("pool", "stage", "takes", "can be used", "largest part", "fits")
MONEY = ("line of the bill", "yours", "optimum", "more")
CHOICES = ("what", "yours", "optimum")
KEEPS = "It keeps every limit and floor of the request."


def evaluation_report(found: ConfigurationEvaluation) -> list[RenderableType]:
    """Lay an evaluation out for the terminal."""
    parts: list[RenderableType] = [paragraph(headline(found), style="bold")]
    parts += _memory(found)
    if found.misfit is not None:
        parts += _misfit(found.misfit)
    if found.breaks or found.plan is not None:
        parts += [*heading("Limits and floors"), bullets(_breaks(found.breaks, found.outside))]
    if found.plan is not None and found.plan.cost is not None:
        plan = found.plan
        parts += [*heading("Bill"), bill(found.plan.cost, plan.currency, plan.exchange_rates)]
    parts += _against(found)
    parts += _listed("Stated", found.stated)
    parts += _listed("Not stated, so at its cheapest", found.taken)
    notes = [*found.notes, *(found.plan.warnings if found.plan is not None else ())]
    return [*parts, *heading("Worth knowing"), bullets(notes)] if notes else parts


def headline(found: ConfigurationEvaluation) -> str:
    """One sentence: whether it fits, its bill and hours, and what the optimum saves."""
    if found.plan is None:
        return f"{found.name} does not fit." + (
            f" The cheapest plan {_plan(found.optimum)}." if found.optimum.pools else ""
        )
    text = f"{found.name} fits and {_plan(found.plan)}"
    if found.breaks:
        text += f"; it breaks {words.listed([one.constraint for one in found.breaks])}"
    return f"{text}. {_saving(found)}"


def _plan(plan: Plan) -> str:
    if plan.cost is None or plan.time is None:
        return "has no bill"
    expected, sure = words.hours(plan.time.expected_hours), words.hours(plan.time.confident_hours)
    chances = words.chances(plan.time.confidence)
    return f"costs {words.usd(plan.cost.total_usd)}, expected in {expected}, in {chances} by {sure}"


def _saving(found: ConfigurationEvaluation) -> str:
    if found.difference is None or found.difference.more_usd is None:
        return "Within the limits of the request there is no plan."
    more = found.difference.more_usd
    if abs(more) < CENT:
        return "No plan of the request is cheaper."
    if more < 0:
        return f"The cheapest plan of the request costs {words.usd(-more)} less{_when(found.difference.more_hours)}."
    why = "that is searched (fewer sizes of pools and intervals than a configuration may state)"
    if found.breaks or found.outside:
        why = "which keeps the limits" if found.breaks else "which the choices of the request allow"
    return f"The cheapest plan {why} costs {words.usd(more)} more{_when(found.difference.more_hours)}."


def _when(more_hours: float | None) -> str:
    """How much later or sooner the optimum is done: what saves money may take longer."""
    if more_hours is None or abs(more_hours) < LEAST_HOURS:
        return ""
    return f" and is done {words.hours(abs(more_hours))} {'later' if more_hours > 0 else 'sooner'}"


def _memory(found: ConfigurationEvaluation) -> list[RenderableType]:
    if not found.memory:
        return []
    rows = []
    for one in found.memory:
        part = max(one.parts, key=one.parts.__getitem__)
        stage, _, model = one.stage.partition(" ")
        fits = "yes" if one.fits else f"no, {one.needed_gib - one.capacity_gib:.1f} GiB short"
        rows.append(
            (
                Name(one.pool),
                words.doing(stage, model, ()),
                f"{one.needed_gib:.1f} GiB",
                f"{one.capacity_gib:.1f} GiB",
                f"{words.spelled(part)} {one.parts[part]:.1f} GiB",
                fits,
            )
        )
    told = [
        f"{pool}, {stage}: {takes} of {usable}, {part}; fits: {fits}" for pool, stage, takes, usable, part, fits in rows
    ]
    wide = table(MEMORY, rows, right=("takes", "can be used"))
    return [*heading("Memory of each GPU"), Fitting(wide, bullets(told), TABLE_WIDTH)]


def _misfit(why: Misfit) -> list[RenderableType]:
    parts = [*heading("Why it does not fit"), bullets([f"pool {why.pool}: {why.reason}"])]
    if not why.remedies:
        nothing = "no single change helps: neither offloading, recomputing, more GPUs, another GPU nor adapters"
        return [*parts, *heading("What would make it fit"), bullets([nothing])]
    return [*parts, *heading("What would make it fit"), bullets([_remedy(one) for one in why.remedies])]


def _remedy(one: Remedy) -> str:
    usd, hours = words.usd(one.total_usd), words.hours(one.expected_hours)
    text = f"{one.key}: {words.number(one.after)} in place of {words.number(one.before)}: {usd}, expected in {hours}"
    return f"{text}; it then breaks {words.listed(one.breaks)}" if one.breaks else text


def _breaks(breaks: Sequence[Broken], outside: Sequence[str]) -> list[str]:
    lines = [_broken(one) for one in breaks] or [KEEPS]
    return lines + [
        f"{key} of the request does not allow it: it is evaluated all the same; widen that key to plan with it"
        for key in outside
    ]


def _broken(one: Broken) -> str:
    if one.value is None or one.limit is None:
        return f"{one.constraint} is broken"
    limit, value = words.amount(one.limit, one.unit), words.reached(one.limit, one.value, one.unit)
    return f"{one.constraint} is {limit}, the configuration has {value}"


def _against(found: ConfigurationEvaluation) -> list[RenderableType]:
    """What the optimum changes: money, decisions and machines."""
    if found.difference is None:
        return []
    parts: list[RenderableType] = []
    if found.difference.lines:
        parts += [*heading("What the optimum changes: money"), table(MONEY, money(found.difference), right=MONEY[1:])]
    for title, changes in (("decisions", found.difference.decisions), ("machines", found.difference.pools)):
        if changes:
            parts += [
                *heading(f"What the optimum changes: {title}"),
                table(CHOICES, choices(changes), whole=CHOICES[:1]),
            ]
    return parts


def _listed(title: str, values: Sequence[Said]) -> list[RenderableType]:
    if not values:
        return []
    return [*heading(title), bullets([", ".join(f"{_key(one.key)} {words.number(one.value)}" for one in values)])]


def _key(key: str) -> str:
    return key.removeprefix("decisions.").removeprefix("pools.")
