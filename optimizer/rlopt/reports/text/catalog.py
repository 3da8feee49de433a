"""The catalogs for a reader: how much is known, how old it is, and single facts with their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from rlopt.facts.catalog import Catalog
from rlopt.facts.offer import Offer
from rlopt.reports import words
from rlopt.reports.catalog_records import Record, provider_counts
from rlopt.reports.layout import facts, heading, paragraph, table
from rlopt.words import Confidence, Grade

AGES: Final = ((30, "up to 30 days"), (90, "31 to 90 days"), (365, "91 to 365 days"))

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "offers": ("id", "device", "gpus", "price_per_hour", "currency", "confidence", "as_of"),
    "devices": ("name", "family", "generation", "memory_gib", "bandwidth_gb_s", "link_gb_s"),
    "models": ("name", "params", "active_params", "layers", "hidden", "vocab", "params_basis"),
}
_NUMBERS: Final = frozenset(
    (
        "gpus",
        "price_per_hour",
        "memory_gib",
        "bandwidth_gb_s",
        "link_gb_s",
        "params",
        "active_params",
        "layers",
        "hidden",
        "vocab",
    )
)


def counts_report(catalog: Catalog, offers: Sequence[Offer], today: date | None = None) -> list[RenderableType]:
    """Count the offers by provider, grade, confidence and age, then the catalog files.

    Parameters
    ----------
    catalog, offers
        All facts, and the offers that passed the filters.
    today
        What ages are counted from; default: the current date.
    """
    day = today or datetime.now().astimezone().date()
    rows = [
        (
            row["provider"],
            str(row["offers"]),
            *(str(row["grade"].get(grade, "")) for grade in Grade),
            *(str(row["confidence"].get(trust, "")) for trust in Confidence),
            row["oldest"] or "",
            row["newest"] or "",
            str(row["undated"] or ""),
        )
        for row in provider_counts(offers)
    ]
    columns = ("provider", "offers", *Grade, *Confidence, "oldest", "newest", "undated")
    numbers = ("offers", *Grade, *Confidence, "undated")
    age_rows = [(name, f"{number:,}") for name, number in ages(offers, day).items()]
    files = [(entry.name, f"{entry.rows:,}", entry.as_of or "undated", entry.source) for entry in catalog.provenance]
    left_out = [(f"{number:,}", reason) for reason, number in catalog.left_out.items()]
    parts: list[RenderableType] = [
        paragraph(f"{words.count(len(offers), 'offer')} of {words.count(len(rows), 'provider')}", style="bold"),
        table(columns, rows, right=numbers),
        *heading(f"Age of the prices on {day.isoformat()}"),
        facts(age_rows),
        *heading("Catalogs"),
        table(("catalog", "rows", "as of", "source"), files, right=("rows",)),
    ]
    if left_out:
        parts += [*heading("Price rows that are not offers"), facts(left_out)]
    return parts


def ages(offers: Sequence[Offer], today: date) -> dict[str, int]:
    """Count offers by the age of their price; a date without a day counts from the month's first."""
    result = {name: 0 for _, name in AGES} | {"older": 0, "undated": 0}
    for offer in offers:
        read_on = _day(offer.as_of)
        if read_on is None:
            result["undated"] += 1
            continue
        days = (today - read_on).days
        result[next((name for most, name in AGES if days <= most), "older")] += 1
    return {name: number for name, number in result.items() if number}


def _day(as_of: str) -> date | None:
    parts = as_of.split("-")
    try:
        return date(int(parts[0]), *(int(part) for part in [*parts[1:3], "1", "1"][:2]))
    except ValueError:
        return None


def shelf_report(name: str, records: Sequence[Record]) -> list[RenderableType]:
    """List one shelf, a line per record; `rlopt catalog show` has the rest of each."""
    columns = _COLUMNS[name]
    rows = [tuple(_cell(record[column], column) for column in columns) for record in records]
    heads = tuple(words.spelled(column) for column in columns)
    numbers = tuple(words.spelled(column) for column in columns if column in _NUMBERS)
    return [
        table(heads, rows, right=numbers),
        Text(),
        paragraph(words.count(len(records), name.removesuffix("s")), style="dim"),
    ]


def records_report(records: Sequence[Record]) -> list[RenderableType]:
    """Show each record in full, every field by name, the source among them; a dash is unknown or none."""
    parts: list[RenderableType] = []
    for index, entry in enumerate(records):
        title = entry.get("id") or entry.get("key") or entry.get("name")
        if index:
            parts.append(Text())
        parts.append(paragraph(f"{entry['kind']} {title}", style="bold"))
        parts.append(facts((words.spelled(key), _cell(value, key)) for key, value in entry.items() if key != "kind"))
    return parts


def _cell(value: Any, field: str) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(one, key)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_cell(one, field) for one in value)
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.6g}"
    return words.number(value)
