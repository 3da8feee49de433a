"""Arguments and options that several commands share, so that they look and behave the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

BACKENDS = ("pulp", "ortools")


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Read a duration with its unit (``90s``, ``5min``); a bare number is seconds."""
    from rlopt.units import parse_duration

    if value is None:
        return None
    try:
        seconds = parse_duration(value) if value.strip()[-1:].isalpha() else float(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    if not 0 < seconds < float("inf"):
        message = f"{value} is no time to work in; write for example 60s or 5min"
        raise click.BadParameter(message, ctx, param)
    return seconds


def writable(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse a file that cannot be written before any work is done."""
    if value is None:
        return None
    folder = value.resolve().parent
    if not folder.is_dir():
        message = f"the folder {value.parent} does not exist"
        raise click.BadParameter(message, ctx, param)
    if not os.access(folder, os.W_OK):
        message = f"the folder {value.parent} cannot be written"
        raise click.BadParameter(message, ctx, param)
    return value


def _assignments(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        key, equals, _ = value.partition("=")
        if not equals or not key.strip():
            message = f"{value!r} is no KEY=VALUE; write for example limits.deadline=24h"
            raise click.BadParameter(message, ctx, param)
    return values


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Read ``5%`` or ``0.05``."""
    text = value.strip()
    try:
        share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        share = float("nan")
    if not 0.0 <= share < float("inf"):
        message = f"{value!r} is no share; write for example 5% or 0.05"
        raise click.BadParameter(message, ctx, param)
    return share


alternatives = click.option(
    "--alternatives",
    type=click.IntRange(min=0, max=20),
    default=0,
    metavar="N",
    help="Also prove up to N plans on other GPUs, at other providers or in another placement.",
)
within = click.option(
    "--within",
    callback=_share,
    default="5%",
    show_default=True,
    metavar="SHARE",
    help="How much more an alternative may cost.",
)


def _paces(ctx: click.Context, param: click.Parameter, values: tuple[float, ...]) -> tuple[float, ...]:
    for value in values:
        if not 0.1 <= value <= 100.0:
            message = f"{value:g} is no factor between 0.1 and 100; write for example 1.5"
            raise click.BadParameter(message, ctx, param)
    return values


stress = click.option(
    "--stress",
    type=float,
    multiple=True,
    metavar="TIMES",
    callback=_paces,
    help="Also tell the plan if every step takes TIMES as long, and which plan is right then. Repeatable.",
)

stress_load = click.option(
    "--stress-load",
    type=float,
    multiple=True,
    metavar="TIMES",
    callback=_paces,
    help="Also tell the plan at responses TIMES as long, and at TIMES the samples in every step. Repeatable.",
)

request_file = click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path), metavar="FILE"
)

overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_assignments,
    help="Change one key of the file for this run, for example limits.deadline=24h. Repeatable.",
)

calibration = click.option(
    "--calibration",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    metavar="FILE",
    help="Constants of your own timings, as rlopt calibrate writes them; of a run of this job: plan its rest.",
)
_steps_done = click.option(
    "--steps-done",
    type=click.IntRange(min=0),
    metavar="N",
    help="Steps that are done by now; default: those of the calibration. 0 plans the whole job.",
)


def calibrated(command: Command) -> Command:
    """Make ``--calibration FILE`` and ``--steps-done N``."""
    return calibration(_steps_done(command))


def own(given: Path | None, steps_done: int | None) -> dict[str, Any]:
    """What both say, as arguments of `rlopt.api`; nothing where neither is given."""
    if given is None:
        if steps_done is not None:
            message = "--steps-done needs --calibration: the hours and the money of those steps stand there"
            raise click.UsageError(message)
        return {}
    return {"calibration": given, "steps_done": steps_done}


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")

backend = click.option(
    "--backend",
    type=click.Choice(BACKENDS),
    default=BACKENDS[0],
    show_default=True,
    help="Which library carries the program to a solver.",
)

time_limit = click.option(
    "--time-limit",
    metavar="DURATION",
    callback=_seconds,
    help="Stop after this long and print the best plan so far, for example 60s or 5min.",
)

tags_out = click.option(
    "--tags-out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=writable,
    help="Save cost-allocation tags and budgets with alerts for AWS, GCP and Azure to FILE.",
)

report = click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=writable,
    help="Save the whole answer to FILE as one HTML page that needs no network.",
)


def _picture(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix.lower() not in (".svg", ".png"):
        message = f"{value.name} is neither an SVG nor a PNG file; write for example frontier.svg"
        raise click.BadParameter(message, ctx, param)
    return writable(ctx, param, value)


plot = click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=_picture,
    help="Save the frontier to FILE as a picture, .svg or .png.",
)


def apart(**files: Path | None) -> None:
    """Refuse two options that write to the same file; names are those of the options, underscores for dashes."""
    known: dict[Path, str] = {}
    for name, path in files.items():
        if path is None:
            continue
        option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
        if path.resolve() in known:
            message = f"{known[path.resolve()]} and {option} name the same file, {path}"
            raise click.UsageError(message)
        known[path.resolve()] = option


def output(what: str) -> Callable[[Command], Command]:
    """Make ``-o/--output FILE``, which also saves the result (`what` says as what)."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        callback=writable,
        help=f"Save {what} to FILE.",
    )
