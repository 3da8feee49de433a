"""``rlopt schema``: what an editor needs to complete and check a request."""

from __future__ import annotations

import click

from rlopt.cli import exits
from rlopt.cli.output import print_text, to_json


@click.command()
def schema() -> int:
    """Print the JSON Schema of constraints.yaml, for editors.

    \b
    Example:
      rlopt schema > constraints.schema.json
    """
    from rlopt import api

    print_text(to_json(api.schema()))
    return exits.DONE
