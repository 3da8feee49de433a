"""What the plan rests on: warnings, the proof, prices and catalogs with their dates."""

from __future__ import annotations

import math

from rich.console import RenderableType

from rlopt.answers.plan import CatalogUsed, Plan, PriceUsed
from rlopt.language import Name, tr
from rlopt.reports import words
from rlopt.reports.layout import Fitting, bullets, facts, heading, table
from rlopt.reports.reasons import left_out, said_once


def warnings(plan: Plan) -> list[RenderableType]:
    """What to know before signing; floors that were loosened carry the reason given for it."""
    texts = [*said_once(plan.warnings), *(f"a floor was loosened because: {reason}" for reason in plan.reasons)]
    return [*heading("Warnings"), bullets(texts)] if texts else []


def proof(plan: Plan) -> list[RenderableType]:
    """How many possibilities there were and what became of them."""
    solver = plan.solver
    rows = [("examined", f"{words.count(solver.candidates, 'way', 'ways')} to serve a part of the job")]
    rows += [
        ("left out", left_out(reason, number))
        for reason, number in sorted(solver.excluded.items(), key=lambda item: -item[1])
        if number
    ]
    compared = (
        f"{words.count(solver.columns, 'possibility', 'possibilities')} by {solver.engine} "
        f"({solver.backend}) in {words.seconds(solver.seconds)}"
    )
    rows.append(("compared", compared if solver.columns else "nothing was left to compare"))
    return [*heading("How this was found"), facts(rows)]


def sources(plan: Plan) -> list[RenderableType]:
    """Where the prices come from, how old they are, and how far the prediction may be off."""
    basis = plan.provenance
    parts: list[RenderableType] = []
    if basis.prices:
        rows = dict.fromkeys(
            (_price(price), price.as_of or "undated", price.offer, price.source) for price in basis.prices
        )
        lines = ((price, as_of, Name(f"{tr(offer)}\n{source}")) for price, as_of, offer, source in rows)
        wide = table(("price", "as of", "what and by which source"), lines, right=("price",))
        narrow = bullets(
            Name(f"{tr(offer)}: {tr(price)}, {tr(as_of)}, {source}") for price, as_of, offer, source in rows
        )
        parts += [*heading("Prices"), Fitting(wide, narrow)]
    error = basis.error_band
    rows_below = [
        ("catalogs", ", ".join(f"{_shelf(used)} ({used.as_of})" for used in basis.catalogs if used.as_of)),
        ("undated", ", ".join(_shelf(used) for used in basis.catalogs if not used.as_of)),
        ("calibration", basis.calibration),
    ]
    if plan.time is not None:
        uncertainty = (
            f"two predictions in three are within a factor {math.exp(error.time):.2f} of the real time; "
            f"{words.percent(error.memory)} of the memory is kept free"
        )
        rows_below.append(("uncertainty", uncertainty))
    return [*parts, *heading("Basis"), facts((name, text) for name, text in rows_below if text)]


def _shelf(used: CatalogUsed) -> str:
    return words.spelled(used.name.removesuffix(".csv"))


def _price(price: PriceUsed) -> str:
    if price.usd_per_hour is not None:
        text = f"{words.rate(price.usd_per_hour)}/h"
    elif price.usd is not None:
        text = f"{words.rate(price.usd)} {price.unit.removeprefix('USD').strip()}".replace(" /", "/")
    else:
        return "unknown"
    if price.low is not None and price.high is not None and price.low < price.high:
        text += f" ({words.rate(price.low)} to {words.rate(price.high)})"
    return text
