"""Why every other GPU, provider, way of paying, placement or smaller pool lost, one phrase each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rich.console import RenderableType

from rlopt.answers.explanation import Over, Rival
from rlopt.answers.plan import Plan
from rlopt.reports import words
from rlopt.reports.layout import Fitting, bullets, facts, heading, indented, paragraph, table

AXES: Final = {
    "gpu": "GPU",
    "provider": "provider",
    "placement": "placement",
    "pricing": "pricing",
    "size": "smaller pool",
}
WIDENS: Final = {"gpu": "choices.gpus", "provider": "choices.providers", "pricing": "choices.pricing"}
"""Keys that leave more to compare, by axis."""
NOT_KNOWN_AT_0: Final = {"floors.simulator_bandwidth": "of a network whose speed no source states"}
"""Floors that a machine breaks with 0 because nobody says more of it."""
LEAST_USD, LEAST_HOURS = 0.005, 0.005
LEAST_WIDTH: Final = 110
"""Characters below which the reasons are too narrow a column to read."""


def rivals(found: Sequence[Rival], plan: Plan) -> list[RenderableType]:
    """A table of rivals, or a list where there is little width; then what was not compared, and how to."""
    parts = heading("Why nothing else")
    if not found:
        return [*parts, bullets(["there was nothing else to choose from", *_alone(found)])]
    rows, told = [], []
    for axis, group in groupby(found, key=lambda rival: rival.axis):
        for number, (value, total, hours, why) in enumerate(_cells(list(group), plan)):
            name = AXES[axis] if number == 0 else ""
            rows.append((name, value, total, hours, why))
            told.append((name, f"{value}, {total}, done in {hours}: {why}" if total else f"{value}: {why}"))
    columns = ("", "with this alone", "best plan", "done in", "why it lost")
    wide = table(columns, rows, right=("best plan", "done in"))
    parts.append(Fitting(wide, facts(told), LEAST_WIDTH))
    if plan.time is not None:
        done = f"done in: {words.chances(plan.time.confidence)} take no longer"
        parts.append(indented(paragraph(done, style="dim")))
    alone = _alone(found)
    return [*parts, bullets(alone)] if alone else parts


def _cells(group: Sequence[Rival], plan: Plan) -> list[tuple[str, str, str, str]]:
    """Name, total, hours and reason of each rival of one axis; those without a plan are told once for each reason."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for number, rival in enumerate(group):
        why, name = reason(rival, plan), words.PRICING.get(rival.value, rival.value)
        if rival.total_usd is None or rival.hours is None:
            names.setdefault(("", "", why), []).append(name)
        else:
            names[(words.usd(rival.total_usd), words.hours(rival.hours), f"{number} {why}")] = [name]
    return [
        (words.listed(named), total, hours, why.partition(" ")[2] if total else why)
        for (total, hours, why), named in names.items()
    ]


def _alone(found: Sequence[Rival]) -> list[str]:
    """What has no rival because the request and the catalogs leave one kind alone."""
    missing = [axis for axis in WIDENS if not any(rival.axis == axis for rival in found)]
    if not missing:
        return []
    keys = words.listed([f"{AXES[axis]} ({WIDENS[axis]})" for axis in missing])
    return [f"not compared, as nothing else is allowed or for sale: {keys}"]


def reason(rival: Rival, plan: Plan) -> str:
    """Why a rival lost, in one phrase."""
    if rival.verdict in ("dearer", "slower"):
        return _dearer(rival, plan)
    if rival.verdict == "late":
        over = [one for one in rival.over if one.constraint == "limits.deadline"]
        late = words.hours(over[0].value - over[0].limit) if over else "some time"
        text = f"its fastest plan is {late} late"
        return f"{text} ({words.machines(rival.machines)})" if rival.machines else text
    if rival.verdict == "limits":
        broken = [_over(one) for one in rival.over]
        return f"breaks {words.listed(broken)}" if broken else "no plan keeps the request's fixed rules"
    if rival.verdict == "memory":
        if rival.missing_gib is None:
            return f"does not fit: {rival.note}"
        stage, _, model = (rival.stage or "").partition(" ")
        return f"does not fit: {rival.missing_gib:.3g} GiB of each GPU are missing for {words.doing(stage, model, ())}"
    if rival.verdict == "facts":
        return rival.note
    return "not looked at: time was up"


def _dearer(rival: Rival, plan: Plan) -> str:
    if plan.cost is None or plan.time is None or rival.total_usd is None or rival.hours is None:
        return ""
    usd, hours = rival.total_usd - plan.cost.total_usd, rival.hours - plan.time.confident_hours
    if rival.verdict == "slower" and hours > LEAST_HOURS:
        return f"{words.hours(hours)} slower ({words.machines(rival.machines)})"
    if abs(usd) < LEAST_USD:
        return f"costs the same ({words.machines(rival.machines)})"
    text = f"{words.usd(abs(usd))} {'dearer' if usd > 0 else 'cheaper'}"
    most = max(rival.by_dimension.items(), key=lambda item: item[1], default=("", 0.0))
    if most[1] > usd / 2 > 0:
        text += f", most of it {most[0]}"
    return f"{text} ({words.machines(rival.machines)})"


def _over(one: Over) -> str:
    bound = "at least" if one.value < one.limit else "at most"
    value, limit = (_amount(number, one.unit) for number in (one.value, one.limit))
    if not one.value and one.constraint in NOT_KNOWN_AT_0:
        value = NOT_KNOWN_AT_0[one.constraint]
    return f"{one.constraint} ({value}, allowed {bound} {limit})"


def _amount(value: float, unit: str) -> str:
    """Minutes and hours as a person says them; the rest in its unit."""
    if unit == "min":
        return words.hours(value / 60.0)
    return words.hours(value) if unit == "h" else words.amount(value, unit)
