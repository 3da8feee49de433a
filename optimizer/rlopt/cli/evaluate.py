"""``rlopt evaluate``: the bill of a configuration that somebody already has."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.release import refuse


@click.command(short_help="Price a configuration you have (not yet).")
@options.request_file
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    metavar="CONFIG",
    help="Pools and decisions, as in a plan.",
)
@options.as_json
@options.overrides
def evaluate(file: Path, config: Path, as_json: bool, overrides: tuple[str, ...]) -> int:
    """Price a configuration you already have, beside the optimum (not in this release yet).

    \b
    Example:
      rlopt evaluate constraints.yaml --config mine.yaml
    """
    refuse("rlopt evaluate", "narrow choices in the request to your configuration and run rlopt solve")
