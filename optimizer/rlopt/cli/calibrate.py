"""``rlopt calibrate``: constants refitted on one's own step timings, and the plan of what is left."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer, write_file
from rlopt.cli.progress import working

FORMATS = ("verl", "openrlhf", "trl", "nemo-rl", "slime")
_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


def today() -> date:
    """The day that a calibration is of."""
    return datetime.now(tz=UTC).date()


def _hours(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    from rlopt.units import parse_duration, seconds_to_hours

    if value is None:
        return None
    try:
        return seconds_to_hours(parse_duration(value))
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


@click.command(short_help="Refit constants on your own step timings.")
@click.argument("logs", nargs=-1, required=True, type=_FILE, metavar="LOG...")
@click.option("--request", type=_FILE, metavar="FILE", help="The job that the logs are of; needed unless they are CSV.")
@click.option("--plan", type=_FILE, metavar="PLAN", help="The saved plan that ran; default: the request's optimum.")
@click.option("--config", type=_FILE, metavar="CONFIG", help="The configuration that ran, as rlopt evaluate reads it.")
@click.option("--format", "launcher", type=click.Choice(FORMATS), help="Whose logs they are; default: told by content.")
@click.option("--steps-done", type=click.IntRange(min=0), metavar="N", help="Steps done; default: the log's last.")
@click.option(
    "--hours-spent",
    metavar="DURATION",
    callback=_hours,
    help="Since the machines were asked for, for example 2.5h; default: by the log's pace, and one start.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=options.writable,
    help="Save the calibration to FILE.",
)
@options.as_json
@options.backend
@options.overrides
def calibrate(
    logs: tuple[Path, ...],
    request: Path | None,
    plan: Path | None,
    config: Path | None,
    launcher: str | None,
    steps_done: int | None,
    hours_spent: float | None,
    output: Path | None,
    as_json: bool,
    backend: str,
    overrides: tuple[str, ...],
) -> int:
    """Refit the physical constants on your own step timings: what changed, and how the plan changes.

    LOG is the console output of verl, OpenRLHF, TRL, NeMo-RL or slime, verl's JSONL file, a tracker's records as
    JSON lines, TRL's trainer_state.json, or a CSV file with the columns that rlopt validate reads. Only constants
    that the timings identify move, within physical bounds.

    \b
    Example:
      rlopt calibrate run.log --request constraints.yaml --plan plan.json -o calibration.yaml
      rlopt solve constraints.yaml --calibration calibration.yaml
      rlopt calibrate measured.csv -o calibration.yaml

    \b
    Exit codes: 0 done, 2 bad input, 3 what is left has no plan within the limits.
    """
    if plan is not None and config is not None:
        message = "--plan and --config both state what ran: give one of them"
        raise click.UsageError(message)
    if overrides and request is None:
        message = "--set changes a request: name it with --request"
        raise click.UsageError(message)
    from rlopt import api

    job = None if request is None else api.load(request, overrides)
    with working(f"reading {', '.join(path.name for path in logs)}"):
        found = api.calibrate(
            logs, job, plan or config, launcher, steps_done, hours_spent, today().isoformat(), backend=backend
        )
    if output is not None:
        write_file(output, found.calibration)
    from rlopt.reports.text.calibrate import calibration_report

    print_answer(found.document(), None, as_json, lambda: calibration_report(found))
    return exits.DONE if found.plan is None else exits.of_plan(found.plan.status)
