"""When the job is done and where the seconds of a step go."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from rlopt.plan import Time
from rlopt.reports import words
from rlopt.reports.layout import facts, table


def sections(time: Time) -> list[RenderableType]:
    """Lay out expected and confident hours, the deadline, and a step by stage."""
    rows = [
        ("expected", f"{words.hours(time.expected_hours)}, failures and restarts included"),
        (
            "",
            f"without any failure {words.hours(time.failure_free_hours)}, of which "
            f"{words.hours(time.startup_hours)} before the first step and after the last",
        ),
        (
            "confident",
            f"{words.hours(time.confident_hours)}: {words.chances(time.confidence)} are done by then",
        ),
    ]
    if time.deadline_hours is not None:
        spare = time.deadline_hours - time.confident_hours
        rows.append(("deadline", f"{words.hours(time.deadline_hours)}, {words.hours(max(spare, 0.0))} to spare"))
    rows.append(("steps", f"{time.steps:,} of {words.seconds(time.step_seconds)} each"))
    stages: list[tuple[str, ...]] = [
        (
            words.STAGES.get(stage.stage, stage.stage),
            stage.model or "",
            stage.pool,
            words.seconds(stage.seconds),
            "" if stage.utilization is None else words.percent(stage.utilization),
        )
        for stage in time.stages
        if stage.seconds > 0
    ]
    columns = ["stage of a step", "model", "pool", "takes", "pool busy"]
    if not any(row[-1] for row in stages):
        columns, stages = columns[:-1], [row[:-1] for row in stages]
    return [facts(rows), Text(), table(columns, stages, right=("takes", "pool busy"))]
