"""``rlopt export``: the plan as a launcher's own configuration."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.release import refuse

LAUNCHERS = ("verl", "openrlhf", "trl", "nemo-rl", "skypilot")


@click.command(short_help="Write a launcher's configuration (not yet).")
@options.request_file
@click.option("--to", type=click.Choice(LAUNCHERS), required=True, help="Whose configuration to write.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="Folder for the files.",
)
@options.overrides
def export(file: Path, to: str, output: Path, overrides: tuple[str, ...]) -> int:
    """Write the plan as a launcher's configuration (not in this release yet).

    \b
    Example:
      rlopt export constraints.yaml --to verl -o launch/
    """
    refuse("rlopt export", "rlopt solve --json names every setting of the plan")
