"""``rlopt solve``: the cheapest plan within the limits, with its bill."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer, to_json, write_file
from rlopt.cli.progress import working
from rlopt.cli.report import other_speeds, write_report


def today() -> date:
    """The day that budgets start on."""
    return datetime.now(tz=UTC).date()


@click.command()
@options.request_file
@options.as_json
@options.output("the plan as JSON")
@options.backend
@options.overrides
@options.calibrated
@options.time_limit
@options.tags_out
@options.alternatives
@options.within
@options.stress
@options.stress_load
@options.report
def solve(
    file: Path,
    as_json: bool,
    output: Path | None,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
    steps_done: int | None,
    time_limit: float | None,
    tags_out: Path | None,
    alternatives: int,
    within: float,
    stress: tuple[float, ...],
    stress_load: tuple[float, ...],
    report: Path | None,
) -> int:
    """Find the provably cheapest plan and print its bill.

    \b
    Example:
      rlopt solve constraints.yaml --set limits.deadline=24h -o plan.json
      rlopt solve constraints.yaml --report plan.html
      rlopt solve constraints.yaml --tags-out tags.json
      rlopt solve constraints.yaml --alternatives 3 --within 10%
      rlopt solve constraints.yaml --stress 1.5 --stress-load 1.5

    A report also proves plans at other speeds, to choose from on the page; not under --time-limit.

    \b
    Exit codes: 0 proven optimal, 2 bad input, 3 proven that there is no plan (what
    would help is printed), 4 stopped at the time limit without a proof, 1 an internal fault.
    """
    options.apart(output=output, tags_out=tags_out, report=report)
    from rlopt import api

    request = api.load(file, overrides, **options.own(calibration, steps_done))
    with working(f"solving {file.name}"):
        plan = api.solve(request, backend=backend, time_limit=time_limit, stress=stress, stress_load=stress_load)
        if alternatives:
            plan = api.with_alternatives(request, plan, alternatives, within)
    if tags_out is not None and plan.pools:
        from rlopt.exporters.tags import tags_document

        write_file(tags_out, to_json(tags_document(plan, request, today())))
    from rlopt.reports.text.plan import plan_report

    print_answer(plan.document(), output, as_json, lambda: plan_report(plan))
    if report is not None:  # after the answer, which it may take a while to prove others beside
        curve = other_speeds(request, plan, backend) if time_limit is None else None
        write_report(report, file, overrides, request, plan, curve)
    return exits.of_plan(plan.status)
