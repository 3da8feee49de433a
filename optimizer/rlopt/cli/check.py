"""``rlopt check``: whether a request is well-formed, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_report


@click.command(short_help="Validate a request and say what was derived.")
@options.request_file
@options.overrides
@options.calibrated
def check(file: Path, overrides: tuple[str, ...], calibration: Path | None, steps_done: int | None) -> int:
    """Read and validate a request; say what was derived from it, and what it leaves at a default.

    \b
    Example:
      rlopt check constraints.yaml
    """
    from rlopt import api
    from rlopt.reports.text.check import check_report

    print_report(*check_report(api.check(file, overrides, **options.own(calibration, steps_done))))
    return exits.DONE
