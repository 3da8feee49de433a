"""The bill: by dimension, line by line, each with the arithmetic that a person can redo."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rlopt.answers.plan import Cost
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.layout import indented, paragraph
from rlopt.reports.wrapping import said

LEAST_USD = 0.005
"""What would round to nothing is written as less than a cent."""


def bill(cost: Cost, currency: str = "USD", exchange_rates: Mapping[str, float] | None = None) -> RenderableType:
    """Lay out the bill, dearest dimension first and dearest line first within it.

    Lines of zero dollars are kept: they say that something was considered and costs nothing.
    """
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column(tr("item"), overflow="fold", ratio=4)
    grid.add_column("USD", justify="right", no_wrap=True)
    grid.add_column(tr("share"), justify="right", no_wrap=True)
    grid.add_column(tr("how it is computed"), overflow="fold", ratio=7)
    sums: dict[str, float] = {}
    for line in cost.lines:
        sums[line.dimension] = sums.get(line.dimension, 0.0) + line.usd
    for dimension in sorted(sums, key=lambda name: -sums[name]):
        grid.add_row(
            Text(tr(dimension), style="bold"),
            Text(amount(sums[dimension]), style="bold"),
            share(sums[dimension], cost.total_usd),
            "",
        )
        lines = (line for line in cost.lines if line.dimension == dimension)
        for line in sorted(lines, key=lambda line: -line.usd):
            item = said(f"  {line.item} ({line.kind})")
            grid.add_row(item, amount(line.usd), "", paragraph(line.basis, style="dim"))
    rates = exchange_rates or {}
    total = "" if currency == "USD" else words.money(cost.total_usd, currency, rates)
    grid.add_row(Text(tr("total"), style="bold"), Text(amount(cost.total_usd), style="bold"), "100%", total)
    return indented(grid)


def amount(amount_usd: float) -> str:
    """Dollars and cents without their sign."""
    return "<0.01" if 0 < amount_usd < LEAST_USD else words.usd(amount_usd).replace("$", "")


def share(part: float, total: float) -> str:
    """Part of the total, empty where there is none."""
    return words.percent(part / total) if total else ""
