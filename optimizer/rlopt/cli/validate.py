"""``rlopt validate``: predictions against measurements."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.release import refuse


@click.command(short_help="Hold predictions against measurements (not yet).")
@click.argument("csv", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="CSV")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Save predictions as CSV."
)
@options.as_json
def validate(csv: Path, out: Path | None, as_json: bool) -> int:
    """Hold predictions against measured runs (not in this release yet).

    \b
    Example:
      rlopt validate measurements.csv --out predictions.csv
    """
    refuse("rlopt validate", "compare the hours of rlopt solve --json with your own run")
