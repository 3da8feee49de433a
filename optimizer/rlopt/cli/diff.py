"""``rlopt diff``: two requests or two plans side by side."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer, print_text, to_json, write_file
from rlopt.cli.progress import working

_EITHER = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command(short_help="Compare two requests or plans, decision by decision.")
@click.argument("a", type=_EITHER, metavar="A")
@click.argument("b", type=_EITHER, metavar="B")
@options.as_json
@click.option("--markdown", is_flag=True, help="Print Markdown, for a comment on a pull request.")
@options.output("the difference as JSON")
@options.backend
@options.calibration
def diff(
    a: Path, b: Path, as_json: bool, markdown: bool, output: Path | None, backend: str, calibration: Path | None
) -> int:
    """Compare two requests or two saved plans in money, hours and decisions.

    Requests are solved first. The money column adds up to the difference of the totals.

    \b
    Example:
      rlopt diff constraints.yaml faster.yaml --markdown
      rlopt diff plan.json constraints.yaml

    \b
    Exit codes: 0 both have plans, 3 one of them has none, otherwise as for rlopt solve.
    """
    if as_json and markdown:
        message = "--json and --markdown exclude each other"
        raise click.UsageError(message)
    from rlopt import api

    with working(f"comparing {a.name} and {b.name}"):
        found = api.diff(a, b, backend=backend, calibration=calibration)
    from rlopt.reports.text.diff import difference_markdown, difference_report

    if not markdown:
        print_answer(found.document(), output, as_json, lambda: difference_report(found))
    else:
        if output is not None:
            write_file(output, to_json(found.document()))
        print_text(difference_markdown(found))
    return max(exits.of_plan(found.a.status), exits.of_plan(found.b.status))
