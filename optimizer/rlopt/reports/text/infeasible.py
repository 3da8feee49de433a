"""When nothing works: what was proven and which changes would help."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType

from rlopt.answers.plan import Plan, Relaxation
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.layout import bullets, heading, paragraph, table

NO_PROGRESS = "makes no progress: stops come faster than work"
"""What the search counts plans under whose every interval is longer than the machines last."""


def sections(plan: Plan) -> list[RenderableType]:
    """The verdict, then each single change that helps, then the changes that help only together."""
    parts: list[RenderableType] = [
        paragraph(f"{plan.job or tr('This job')}: no plan keeps every limit and floor of the request.", style="bold"),
        paragraph(_proof(plan.solver.candidates)),
    ]
    single = [change for change in plan.relaxations if isinstance(change, Relaxation)]
    combined = [change for change in plan.relaxations if not isinstance(change, Relaxation)]
    if not plan.relaxations:
        reasons = ["no change of a limit or floor was found that helps"]
        if plan.solver.excluded.get(NO_PROGRESS):
            reasons.insert(
                0, "machines stop sooner than work gets done: fewer or steadier ones, or on demand, may work"
            )
        return [*parts, *heading("What would help"), bullets(reasons)]
    if single:
        rows = [
            (change.constraint, _move(change), words.usd(change.total_usd), words.hours(change.hours))
            for change in sorted(single, key=lambda change: change.total_usd)
        ]
        columns = ("change this alone", "from and to", "total", "done in")
        parts += [*heading("What would help"), table(columns, rows, right=("total", "done in"))]
    for changes in combined:
        parts += [*heading("Or these together"), bullets(together(changes))]
    return parts


def _proof(candidates: int) -> str:
    if candidates == 0:
        return "Proven: nothing among the choices can take any part of this job."
    ways = words.count(candidates, "way", "ways")
    return f"Proven: {ways} to run a part of the job were looked at, and no combination keeps every limit and floor."


def together(changes: Sequence[Relaxation]) -> list[str]:
    """A combined change, part by part, and the plan that it opens."""
    lines = [f"{change.constraint}: {_move(change)}" for change in changes]
    if changes:
        last = changes[-1]
        lines.append(f"then the plan costs {words.usd(last.total_usd)} and is done in {words.hours(last.hours)}")
    return lines


def _move(change: Relaxation) -> str:
    before, after, unit = change.from_, change.to, change.unit
    of_number = unit if unit in words.WRITTEN_OUT else ""
    return f"{words.amount(before, of_number)} → {words.reached(before, after, unit)}"
