"""What a request names outside itself: currencies and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.reading.agreement.options import named_models
from rlopt.request import Budgets
from rlopt.request.values.kinds import show
from rlopt.units import Money

USD: Final = "USD"


_MONEY: Final = (
    "limits.budget",
    *(f"limits.budget.{name}" for name in Budgets.model_fields),
    "limits.hourly_budget",
    "costs.engineer_hour",
    "costs.vcpu_hour",
    "job.data.clean_price",
    "job.data.label_price",
    "job.data.collect_price",
    "job.data.inspect.price",
    "job.data.tools",
    "job.evaluation.build_price",
    "costs.dashboards.price",
    "costs.dashboards.user_price",
)


_CURRENCY: Final = re.compile(r"\s([A-Z]{3})\s*$|\d([A-Z]{3})\s*$")


def currencies(view: View) -> Iterator[Finding]:
    """Look for currencies without an exchange rate; none is invented."""
    rates = view.map("costs.exchange_rates")
    named = [(key, _currency(view.get(key))) for key in _MONEY]
    currency = view.get("costs.currency")
    named.append(("costs.currency", currency if isinstance(currency, str) and len(currency) == 3 else None))
    for key, found in named:
        if found is not None and found != USD and found not in rates:
            yield Finding(
                key,
                f"is in {found}, but there is no exchange rate",
                "costs.exchange_rates with that currency",
                f"add exchange_rates: {{{found}: ... USD}} to costs",
            )
    own = rates.get(USD)
    if own is not None and str(own).split() not in (["1", USD], ["1.0", USD]):
        yield Finding("costs.exchange_rates.USD", f"{show(own)} is not one dollar", "1 USD", "delete it")


def _currency(value: Any) -> str | None:
    if isinstance(value, Money):
        return value.currency
    match = _CURRENCY.search(value) if isinstance(value, str) and len(value) < 60 else None
    return None if match is None else match[1] or match[2]


def files(view: View) -> Iterator[Finding]:
    """Look for named files that do not exist."""
    offers = view.get("choices.offers")
    if isinstance(offers, str) and not _is_file(offers):
        yield Finding("choices.offers", f"there is no file {show(offers)}", "a CSV file", "check the path")
    for role, value in named_models(view):
        if isinstance(value, str) and value.endswith(".json") and not _is_file(value):
            yield Finding(
                f"job.models.{role}",
                f"there is no file {show(value)}",
                "a Hugging Face config.json",
                "check the path; it starts at the file's own folder",
            )


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False
