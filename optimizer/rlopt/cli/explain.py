"""``rlopt explain``: what holds the plan back, and what moving it is worth."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.release import refuse


@click.command(short_help="Say what binds and what it is worth (not yet).")
@options.request_file
@options.as_json
@options.backend
@options.overrides
def explain(file: Path, as_json: bool, backend: str, overrides: tuple[str, ...]) -> int:
    """Say what binds and what one more unit is worth (not in this release yet).

    \b
    Example:
      rlopt explain constraints.yaml
    """
    refuse("rlopt explain", "rlopt solve says which limits bind and, when nothing is feasible, what would help")
