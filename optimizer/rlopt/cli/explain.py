"""``rlopt explain``: what holds the plan back, and what moving it is worth."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer
from rlopt.cli.progress import working


@click.command(short_help="Say what holds a plan and why all else lost.")
@options.request_file
@options.as_json
@options.output("the explanation as JSON")
@options.backend
@options.overrides
@options.calibrated
def explain(
    file: Path,
    as_json: bool,
    output: Path | None,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
    steps_done: int | None,
) -> int:
    """Say what holds the plan, what moving it is worth, and why all else lost.

    Each limit that the plan reaches is moved and the problem solved again; every other
    GPU type, provider, placement and pricing is solved alone, and so are smaller pools where
    one is busy for less than half of a step. With costs.engineer_hour: what a placement saves
    for its engineer hours. Where no plan exists: each change that alone opens one, as small
    as can be proven.

    \b
    Example:
      rlopt explain constraints.yaml
      rlopt explain constraints.yaml --set limits.deadline=12h --json

    \b
    Exit codes: as for rlopt solve.
    """
    from rlopt import api

    request = api.load(file, overrides, **options.own(calibration, steps_done))
    with working(f"explaining {file.name}"):
        found = api.explain(request, backend=backend)
    from rlopt.reports.text.explain import explanation_report

    print_answer(found.document(), output, as_json, lambda: explanation_report(found))
    return exits.of_plan(found.plan.status)
