"""``rlopt review``: the bill that came against the plan."""

from __future__ import annotations

from pathlib import Path

import click

from rlopt.cli import options
from rlopt.cli.exits import DONE
from rlopt.cli.output import print_answer

_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command(short_help="Split the difference between a bill and its plan.")
@click.argument("plan", type=_FILE, metavar="PLAN.json")
@click.argument("bill", type=_FILE, metavar="BILL.csv")
@options.as_json
@options.output("the review as JSON")
def review(plan: Path, bill: Path, as_json: bool, output: Path | None) -> int:
    """Say why a bill differs from its plan: trials, throughput, price, growth or the rest.

    BILL.csv has the columns usd and dimension or item, as in the plan's bill, and where they
    are known trials (runs carried out), hours (the row's machines rented together, all runs)
    or gpu_hours (GPUs times hours), and price (of one of those). The parts add up.

    \b
    Example:
      rlopt review plan.json bill.csv
      rlopt review plan.json bill.csv --json -o review.json
    """
    from rlopt import api

    found = api.review(plan, bill)
    from rlopt.reports.text.review import review_report

    print_answer(found.document(), output, as_json, lambda: review_report(found))
    return DONE
