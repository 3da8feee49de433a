"""Several plans in columns, for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from rich.console import RenderableType

from rlopt.answers.comparison import Apart, Comparison, Contender, Work
from rlopt.answers.plan import Dimension
from rlopt.reports import words
from rlopt.reports.layout import Fitting, bullets, heading, paragraph, table
from rlopt.units import SECONDS_PER_MINUTE, hours_to_seconds

LABEL_WIDTH, COLUMN_WIDTH = 30, 14
"""Characters that a comparison in columns takes for the names of its rows, and for each plan."""
CENT = 0.005
MOST_WORK = 3
"""Kinds of work that a difference is told by."""


def comparison_report(found: Comparison) -> list[RenderableType]:
    """Lay a comparison out: a column for each plan, then why each costs more than the cheapest."""
    solved = [one for one in found.contenders if one.total_usd is not None]
    parts: list[RenderableType] = [paragraph(headline(found), style="bold")]
    if solved:
        names = [one.name for one in solved]
        rows = [*_figures(solved), *_money(solved)]
        parts += [*heading("Side by side"), _columns("", names, rows)]
        parts += [*heading("Hours of work"), _columns("who does what", names, _work(solved))]
        told = (f"{one.name}: {words.machines(one.machines)}" for one in solved)
        parts += [*heading("Machines"), bullets(told)]
    if found.apart:
        parts += [*heading("Why they differ"), bullets(_told(one, found) for one in found.apart)]
    notes = [f"{one.name} has no use for {words.listed(one.left_out)}" for one in found.contenders if one.left_out]
    notes += [f"{one.name}: {_lacking(one)}" for one in found.contenders if one.total_usd is None]
    if notes:
        parts += [*heading("To know"), bullets(notes)]
    return parts


def headline(found: Comparison) -> str:
    """One sentence: which plan is the cheapest, and by how much."""
    best = next((one for one in found.contenders if one.name == found.cheapest), None)
    if best is None or best.total_usd is None:
        return "None of them has a plan: there is nothing to compare."
    text = f"{best.name} costs least: {words.usd(best.total_usd)}"
    if not found.apart:
        return f"{text}; no other has a plan."
    nearest = min(found.apart, key=lambda one: one.more_usd)
    unsure = [one.name for one in found.contenders if one.status == "feasible"]
    proof = f" Not proven: {words.listed(unsure)}." if unsure else ""
    if nearest.more_usd < CENT:
        return f"{text}, and {nearest.name} as much.{proof}"
    return f"{text}, {words.usd(nearest.more_usd)} less than {nearest.name}.{proof}"


def _lacking(one: Contender) -> str:
    if one.status == "infeasible":
        return "no plan keeps every limit and floor; rlopt solve says what would help"
    return f"no plan ({one.status})"


def _columns(first: str, names: Sequence[str], rows: Sequence[tuple[str, ...]]) -> RenderableType:
    lines = [
        f"{label}: " + ", ".join(f"{name} {cell}" for name, cell in zip(names, cells, strict=True) if cell)
        for label, *cells in rows
    ]
    wide = table((first, *names), rows, right=names)
    return Fitting(wide, bullets(lines), least_width=LABEL_WIDTH + COLUMN_WIDTH * len(names))


def _figures(solved: Sequence[Contender]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, Callable[[Contender], str]]] = [
        ("total", lambda one: words.usd(one.total_usd or 0.0)),
        ("confident hours", lambda one: words.hours(one.confident_hours or 0.0)),
        ("expected hours", lambda one: words.hours(one.expected_hours or 0.0)),
        ("steps", lambda one: f"{one.steps or 0:,}"),
        ("a step takes", lambda one: words.seconds(one.step_seconds or 0.0)),
        ("a step costs", lambda one: words.rate(one.usd_per_step or 0.0)),
        ("tokens trained again", lambda one: "" if one.rework_share is None else words.percent(one.rework_share)),
        ("a point costs", lambda one: "" if one.per_point is None else words.usd(one.per_point.usd_per_point)),
    ]
    found = [(label, *(cell(one) for one in solved)) for label, cell in rows]
    return [row for row in found if any(row[1:])]


def _money(solved: Sequence[Contender]) -> list[tuple[str, ...]]:
    """The bill by dimension; what costs nobody anything is left out."""
    names: tuple[Dimension, ...] = get_args(Dimension)
    shown = [name for name in names if any(one.by_dimension.get(name, 0.0) for one in solved)]
    return [(name, *(words.usd(one.by_dimension.get(name, 0.0)) for one in solved)) for name in shown]


def _work(solved: Sequence[Contender]) -> list[tuple[str, ...]]:
    keys = dict.fromkeys((work.stage, work.model) for one in solved for work in one.work)
    rows = []
    for key in sorted(keys, key=_order):
        hours = [next((work.hours for work in one.work if (work.stage, work.model) == key), 0.0) for one in solved]
        rows.append((_name(*key), *(_duration(one) if one else "" for one in hours)))
    return rows


def _order(key: tuple[str, str | None]) -> tuple[int, str]:
    """Stages in the order of a step, what is done before the job in front."""
    stages = list(words.STAGES)
    return (stages.index(key[0]) if key[0] in stages else -1, key[1] or "")


def _name(stage: str, model: str | None) -> str:
    doing = words.STAGES.get(stage, stage)
    if model is None or stage == "transfer":
        return doing
    return f"{doing}: {words.model(model)}"


def _duration(hours: float) -> str:
    return words.hours(hours) if hours >= 1 else words.minutes(hours_to_seconds(hours) / SECONDS_PER_MINUTE)


def _told(one: Apart, found: Comparison) -> str:
    """Why a plan costs more than the cheapest: steps, money by dimension, work by stage."""
    by_name = {each.name: each for each in found.contenders}
    own, best = by_name[one.name], by_name[found.cheapest or ""]
    later = abs(one.more_hours)
    when = "as long" if later < CENT else f"{_duration(later)} {'longer' if one.more_hours > 0 else 'less'}"
    money = "as much" if one.more_usd < CENT else f"{words.usd(one.more_usd)} more"
    text = (
        f"{one.name} costs {money} than {best.name}"
        if money != "as much"
        else f"{one.name} costs what {best.name} does"
    )
    text += f" and takes {when}: {_steps(own)} against {_steps(best)}."
    largest = max(one.by_dimension.items(), key=lambda part: abs(part[1]), default=None)
    if largest is not None and abs(largest[1]) >= CENT:
        much = f"{largest[0]} ({'+' if largest[1] > 0 else ''}{words.usd(largest[1])})"
        most = largest[1] > one.more_usd / 2.0 > 0.0
        text += f" Most of it is {much}." if most else f" What differs most is {much}."
    work = [_more(part) for part in one.by_work[:MOST_WORK]]
    return f"{text} Hours of work: {words.listed(work)}." if work else text


def _steps(one: Contender) -> str:
    return f"{words.count(one.steps or 0, 'step')} of {words.seconds(one.step_seconds or 0.0)}"


def _more(work: Work) -> str:
    return f"{_name(work.stage, work.model)} {'+' if work.hours > 0 else '-'}{_duration(abs(work.hours))}"
