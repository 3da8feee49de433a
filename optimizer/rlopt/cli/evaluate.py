"""``rlopt evaluate``: the bill, hours and memory of a configuration that somebody already has."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import exits, options
from rlopt.cli.output import print_answer
from rlopt.cli.progress import working


@click.command(short_help="Price a configuration you have, beside the optimum.")
@options.request_file
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    metavar="CONFIG",
    help="Pools and decisions as in a plan, YAML or JSON; a saved plan or a verl script does.",
)
@options.as_json
@options.output("the evaluation as JSON")
@options.backend
@options.overrides
@options.calibrated
def evaluate(
    file: Path,
    config: Path,
    as_json: bool,
    output: Path | None,
    backend: str,
    overrides: tuple[str, ...],
    calibration: Path | None,
    steps_done: int | None,
) -> int:
    """Price a configuration you already have, beside the optimum.

    Says whether it fits (memory of each stage), how long it takes, its whole bill, which limits and floors
    it breaks, and what the cheapest plan does differently. What CONFIG does not state is free and takes its
    cheapest value. Machines of your own carry usd_per_gpu_hour, 0 where they are paid for.

    \b
    Example:
      rlopt evaluate constraints.yaml --config mine.yaml
      rlopt evaluate constraints.yaml --config plan.json --json

    \b
    Exit codes: 0 it fits and keeps limits and floors, 3 it does not, otherwise as for rlopt solve.
    """
    from rlopt import api

    request = api.load(file, overrides, **options.own(calibration, steps_done))
    with working(f"evaluating {config.name}"):
        found = api.evaluate(request, config, backend=backend)
    from rlopt.reports.text.evaluation import evaluation_report

    print_answer(found.document(), output, as_json, lambda: evaluation_report(found))
    return exits.DONE if found.keeps else exits.INFEASIBLE
