"""``--report FILE``: what stands on the page beside the answer, and the page itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rlopt.cli.output import write_file
from rlopt.cli.progress import working

if TYPE_CHECKING:
    from rlopt.answers.plan import Frontier, Plan
    from rlopt.request import Request

SPEEDS: Final = 12
"""Plans at other speeds, at most, that a page of ``rlopt solve`` proves beside its own."""


def other_speeds(request: Request, plan: Plan, backend: str) -> Frontier | None:
    """Proven plans to choose from; none beside an answer that is no proven plan."""
    if plan.status != "optimal" or not plan.pools:
        return None
    from rlopt import api

    with working(f"proving up to {SPEEDS} plans at other speeds for the report"):
        return api.frontier(request, points=SPEEDS, backend=backend)


def first_plan(request: Request, curve: Frontier, backend: str) -> Plan:
    """The frontier's plan that the request asks for; where it has none, why, and what would help."""
    if curve.points:
        fastest = request.objective == "time"
        return min(curve.points, key=lambda plan: _hours(plan) if fastest else _usd(plan))
    from rlopt import api

    with working("looking for changes that would help"):
        return api.solve(request, backend=backend)


def write_report(
    path: Path, file: Path, overrides: tuple[str, ...], request: Request, plan: Plan, curve: Frontier | None
) -> None:
    """Write the page of an answer, whole or not at all."""
    from rlopt.facts.files.text import read_text
    from rlopt.reports.page import Given, page

    given = Given(file.name, read_text(file, str(file)), tuple(request.presets), overrides)
    write_file(path, page(plan, given, curve))


def _hours(plan: Plan) -> float:
    return plan.time.confident_hours if plan.time else float("inf")


def _usd(plan: Plan) -> float:
    return plan.cost.total_usd if plan.cost else float("inf")
