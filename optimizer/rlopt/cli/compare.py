"""``rlopt compare``: one job by several algorithms, or several requests, in columns."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer
from rlopt.cli.progress import working


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Read a list such as ``grpo,opd``."""
    if value is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    if len(names) < 2:
        message = f"{value!r} names nothing to compare; write for example grpo,opd"
        raise click.BadParameter(message, ctx, param)
    return names


@click.command(short_help="Set algorithms, requests or plans side by side.")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    metavar="FILE...",
)
@click.option(
    "--algorithms",
    callback=_names,
    metavar="NAME,NAME",
    help="Algorithms to compare; default: the request's own and those below its compare key.",
)
@options.as_json
@options.output("the comparison as JSON")
@options.backend
@options.overrides
@options.calibration
def compare(
    files: tuple[Path, ...],
    algorithms: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
) -> int:
    """Set plans side by side: bill, hours, steps, rework, and who generates and scores.

    One request: it is solved once for each algorithm, same policy and data. What only one
    algorithm needs (its steps, its teacher) stands below compare.<algorithm>. Several
    requests or saved plans: each as it is.

    \b
    Example:
      rlopt compare constraints.yaml --algorithms grpo,opd --set compare.opd.job.steps=150
      rlopt compare a.yaml b.yaml plan.json --json

    \b
    Exit codes: 0 all have plans, 3 one of them has none, otherwise as for rlopt solve.
    """
    if len(files) > 1 and (algorithms or overrides):
        message = "--algorithms and --set change one request: give one FILE"
        raise click.UsageError(message)
    from rlopt import api

    with working(f"comparing {', '.join(file.name for file in files)}"):
        found = api.compare(files, algorithms, overrides, backend=backend, calibration=calibration)
    from rlopt.reports.text.compare import comparison_report

    print_answer(found.document(), output, as_json, lambda: comparison_report(found))
    return max(exits.of_plan(one.status) for one in found.contenders)
