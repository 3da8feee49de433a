"""``rlopt frontier``: what a faster run costs and what a slower one saves."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report, print_text, to_json, write_bytes, write_file
from rlopt.cli.progress import working
from rlopt.cli.report import first_plan, write_report


@click.command(short_help="Show what a faster run costs and a slower one saves.")
@options.request_file
@click.option("--points", type=click.IntRange(min=1), default=20, show_default=True, help="At most this many plans.")
@options.as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, one row per plan; with -o the file is CSV too.")
@options.output("the frontier as JSON")
@options.backend
@options.overrides
@options.calibrated
@options.report
@options.plot
def frontier(
    file: Path,
    points: int,
    as_json: bool,
    as_csv: bool,
    output: Path | None,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
    steps_done: int | None,
    report: Path | None,
    plot: Path | None,
) -> int:
    """Show cost against time; every point is a proven plan, none is beaten on both.

    \b
    Example:
      rlopt frontier constraints.yaml --points 10 --csv > frontier.csv
      rlopt frontier constraints.yaml --report plan.html --plot frontier.svg
    """
    options.apart(output=output, report=report, plot=plot)
    if as_json and as_csv:
        message = "--json and --csv exclude each other"
        raise click.UsageError(message)
    from rlopt import api

    request = api.load(file, overrides, **options.own(calibration, steps_done))
    with working(f"solving {file.name} for up to {points} deadlines"):
        curve = api.frontier(request, points=points, backend=backend)
    if as_csv:
        from rlopt.reports.csv_frontier import frontier_csv

        document = frontier_csv(curve)
    else:
        document = to_json(curve.document())
    if output is not None:
        write_file(output, document)
    if plot is not None:
        from rlopt.reports.frontier_plot import frontier_plot

        write_bytes(plot, frontier_plot(curve, plot.suffix[1:].lower()))
    if as_json or as_csv:
        print_text(document)
    else:
        from rlopt.reports.text.frontier import frontier_report

        print_report(*frontier_report(curve))
    if report is not None:
        write_report(report, file, overrides, request, first_plan(request, curve, backend), curve)
    return exits.of_frontier([plan.status for plan in curve.points])
