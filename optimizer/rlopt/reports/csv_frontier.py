"""A frontier for a spreadsheet: one row per plan, plain numbers, units in the column names."""

from __future__ import annotations

import csv
import io
from typing import Any, get_args

from rlopt.answers.plan import Dimension, Frontier, Plan
from rlopt.reports.text.frontier import machines

DIMENSIONS: tuple[str, ...] = get_args(Dimension)
CERTAIN = ("deadline_probability", "low_usd", "high_usd", "low_hours", "high_hours")
"""Of a plan's certainty: the share of runs that meet the deadline, and what most runs lie between."""
COLUMNS: tuple[str, ...] = (
    "confident_hours",
    "expected_hours",
    "total_usd",
    *(f"{dimension}_usd" for dimension in DIMENSIONS),
    "status",
    "gap",
    "step_seconds",
    "steps",
    "placement",
    "group_size",
    "gpus",
    "usd_per_hour",
    "machines",
    "usd_per_point",
    "knee",
    "deadline_hours",
    *CERTAIN,
)
WORST = "confident_hours_at_times"
"""One column more where the request asks for limits that hold in a worse case: the factor in the confident hours."""


def frontier_csv(frontier: Frontier) -> str:
    """Write the points in their order; a cell that does not apply is empty.

    Returns
    -------
    str
        CSV with a header, lines ended by a single newline. The ``*_usd`` columns of the dimensions add
        up to ``total_usd``.
    """
    stream, worse = io.StringIO(), [plan.worst.times if plan.worst else None for plan in frontier.points]
    writer = csv.DictWriter(stream, (*COLUMNS, *([WORST] if any(worse) else [])), lineterminator="\n")
    writer.writeheader()
    for i, (plan, times) in enumerate(zip(frontier.points, worse, strict=True)):
        more = {WORST: times} if any(worse) else {}
        writer.writerow({**_row(plan), "knee": "yes" if i == frontier.knee else "", **more})
    return stream.getvalue()


def _row(plan: Plan) -> dict[str, Any]:
    row: dict[str, Any] = {
        "status": plan.status,
        "gap": plan.solver.gap,
        "gpus": sum(pool.gpus for pool in plan.pools),
        "usd_per_hour": sum(pool.usd_per_hour for pool in plan.pools),
        "machines": machines(plan),
    }
    if plan.time is not None:
        for name in ("confident_hours", "expected_hours", "deadline_hours", "step_seconds", "steps"):
            row[name] = getattr(plan.time, name)
    if plan.certainty is not None:
        row |= {name: getattr(plan.certainty, name) for name in CERTAIN}
    if plan.per_point is not None:
        row["usd_per_point"] = plan.per_point.usd_per_point
    if plan.cost is not None:
        row["total_usd"] = plan.cost.total_usd
        for dimension in DIMENSIONS:
            row[f"{dimension}_usd"] = sum(line.usd for line in plan.cost.lines if line.dimension == dimension)
    if plan.decisions is not None:
        row["placement"] = plan.decisions.placement
        row["group_size"] = plan.decisions.group_size
    return row
