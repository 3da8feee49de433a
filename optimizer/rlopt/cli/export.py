"""``rlopt export``: the plan as a launcher's own configuration."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.exits import DONE
from rlopt.cli.output import print_text
from rlopt.cli.progress import working

LAUNCHERS = ("verl", "openrlhf", "trl", "nemo-rl", "skypilot")
"""Rows of rlopt.launchers, named here so that --help needs no import."""


@click.command(short_help="Write a launcher's configuration.")
@options.request_file
@click.option("--to", type=click.Choice(LAUNCHERS), required=True, help="Whose configuration to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder for the files; made where it is missing.",
)
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    metavar="PLAN.json",
    help="Export this saved plan of FILE instead of solving.",
)
@click.option("--smoke", is_flag=True, help="Also write smoke.sh, a short trial at full length that proves memory.")
@options.backend
@options.overrides
@options.calibrated
def export(
    file: Path,
    to: str,
    output: Path,
    plan: Path | None,
    smoke: bool,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
    steps_done: int | None,
) -> int:
    """Write the plan as a launcher's configuration.

    DIR gets launch.sh, the launcher's own files and README.txt. Whatever the plan says and the launcher
    cannot be told is printed with what to do about it, and stands in the files. What only you know
    (data, reward function) is asked for by launch.sh. Files that rlopt export did not write are never replaced.

    \b
    Example:
      rlopt export constraints.yaml --to verl -o launch/
      rlopt export constraints.yaml --plan plan.json --to trl -o launch/ --smoke

    \b
    Exit codes: as for rlopt solve; 2 also where the launcher has no trainer for the algorithm.
    """
    from rlopt import api
    from rlopt.cli.folder import write_folder
    from rlopt.launchers.exports.report import export_report
    from rlopt.launchers.exports.text import MARK

    request = api.load(file, overrides, **options.own(calibration, steps_done))
    with working(f"planning {file.name}"):
        made = api.export(request, to, plan, smoke, backend)
    left = write_folder(output, made.files, MARK)
    print_text(export_report(made, output, left))
    return DONE
