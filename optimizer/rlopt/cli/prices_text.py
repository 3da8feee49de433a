"""Price lists for a reader: what came in, what was left out and why, what a refresh changed or refused."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.text import Text

from rlopt.language import Name, tr
from rlopt.reports import words
from rlopt.reports.layout import bullets, facts, heading, indented, table

if TYPE_CHECKING:
    from rlopt.facts import Catalog
    from rlopt.pricelists.contract import LeftOut, PriceList
    from rlopt.pricelists.refresh import RefreshOutcome

MOST_SHOWN: Final = 3
"""Rows named for each reason; --json has them all."""


def list_record(found: PriceList, kept: Path | None) -> dict[str, Any]:
    """One list as plain values; every row that was left out is there."""
    return {
        "name": found.name,
        "format": found.format,
        "source": found.source,
        "as_of": found.as_of,
        "rows": found.rows,
        "kept_in": None if kept is None else str(kept),
        "offers": [_offer(offer) for offer in (*found.offers, *found.zone_offers)],
        "left_out": [dataclasses.asdict(row) for row in found.left_out],
    }


def _offer(offer: Any) -> dict[str, Any]:
    picked = ("id", "price_per_hour", "currency", "as_of", "source", "confidence", "note", "net", "most_nodes")
    return {name: getattr(offer, name) for name in picked} | {"machine": offer.shape.key}


def list_report(found: PriceList, kept: Path | None) -> list[RenderableType]:
    """What a file gave, and what it did not."""
    machines = len({offer.shape.key for offer in (*found.offers, *found.zone_offers)})
    number = words.count(len(found.offers) + len(found.zone_offers), "offer")
    head = f"{number} of {words.count(machines, 'machine')} from {words.count(found.rows, 'row')} ({found.format})"
    rows: list[tuple[str, str]] = [
        ("from", Name(found.source)),
        ("prices of", f"{found.as_of} and before" if found.own else found.as_of),
        ("kept in", "nothing: this was a dry run" if kept is None else f"as {found.name}, in {kept}"),
    ]
    if found.own:
        rows.append(("your discounts", "none is taken off: they are your own prices"))
    parts: list[RenderableType] = [Text(tr(head), style="bold"), facts(rows)]
    return [*parts, *left_out(found.left_out)]


def left_out(rows: Sequence[LeftOut]) -> list[RenderableType]:
    """Rows that gave nothing, counted by reason, the first of each named."""
    by_reason: dict[str, list[LeftOut]] = defaultdict(list)
    for row in rows:
        by_reason[row.reason].append(row)
    parts: list[RenderableType] = heading(f"Left out: {words.count(len(rows), 'row')}") if rows else []
    for reason, found in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        parts.append(indented(Text(f"{len(found):,}  {tr(reason)}")))
        places = (Name(_place(one)) for one in found)
        shown = [place for place, _ in zip(places, range(MOST_SHOWN), strict=False)]
        more = len(found) - len(shown)
        parts.append(indented(bullets([*shown, *([f"and {more:,} more, named by --json"] if more else [])])))
    return parts


def _place(row: LeftOut) -> str:
    return f"{row.file}:{row.line}" + (f", {row.column} {row.value!r}" if row.column else "")


def brought_in(catalog: Catalog) -> list[dict[str, Any]]:
    """User catalogs, and how many of their offers are the ones that plans use."""
    from rlopt.facts.files.folder import load_catalog
    from rlopt.pricelists import store
    from rlopt.pricelists.files import today

    if not store.names():
        return []
    in_use = {offer.id: offer for offer in (*catalog.offers, *catalog.zone_offers)}
    found = []
    for one in store.load_all(load_catalog()):
        made = (*one.offers, *one.zone_offers)
        found.append(
            {
                "name": one.name,
                "format": one.format,
                "offers": len(made),
                "in_use": sum(in_use.get(offer.id) == offer for offer in made),
                "as_of": one.as_of,
                "days_old": (today() - date.fromisoformat(one.as_of)).days,
                "read_on": one.read_on,
                "source": one.source,
            }
        )
    return found


def brought_in_report(found: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """The same in a table; nothing where there is none."""
    if not found:
        return []
    columns = ("name", "offers", "in use", "prices of", "days old", "read on", "from")
    keys = ("name", "offers", "in_use", "as_of", "days_old", "read_on", "source")
    rows = [tuple(str(one[key]) for key in keys) for one in found]
    wide = table(columns, rows, right=("offers", "in use", "days old"))
    return [*heading("User catalogs, which stand before the shipped prices"), wide]


def outcome_record(one: RefreshOutcome) -> dict[str, Any]:
    """What became of one list, as plain values."""
    verdict = one.verdict
    return {
        "name": one.name,
        "state": one.state,
        "source": one.source,
        "why": one.why or None,
        "in_use": None if one.old is None else {"as_of": one.old.as_of, "read_on": one.old.read_on},
        "findings": [] if verdict is None else [dataclasses.asdict(finding) for finding in verdict.findings],
        "new": None if verdict is None else verdict.new,
        "gone": None if verdict is None else list(verdict.gone),
        "changed": None if verdict is None else verdict.changed,
        "found": None if one.found is None else list_record(one.found, None),
    }


def outcomes_report(outcomes: Sequence[RefreshOutcome], today: date) -> list[RenderableType]:
    """What a refresh did, list by list: the good ones in a line, the others with what is wrong and what to do."""
    parts: list[RenderableType] = []
    for one in outcomes:
        parts.append(Text(f"{one.name}: {tr(_state(one, today))}", style="bold"))
        parts += _details(one)
    return parts


def _state(one: RefreshOutcome, today: date) -> str:
    if one.state == "unchanged":
        return f"unchanged, prices of {one.old.as_of if one.old else ''}"
    if one.state == "renewed" and one.found is not None:
        return (
            f"renewed, {words.count(len(one.found.offers) + len(one.found.zone_offers), 'offer')} of {one.found.as_of}"
        )
    word = "not taken" if one.state == "refused" else "not reached"
    if one.old is None:
        return f"{word}; the shipped prices stay in use"
    days = (today - date.fromisoformat(one.old.read_on)).days
    return f"{word}; the prices of {one.old.as_of} stay in use, read {words.count(days, 'day')} ago"


def _details(one: RefreshOutcome) -> list[RenderableType]:
    verdict = one.verdict
    rows: list[tuple[str, str]] = [("from", Name(one.source))]
    if one.why:
        rows.append(("what happened", one.why))
    if verdict is not None and one.state == "renewed":
        rows += [
            ("new offers", str(verdict.new)),
            ("gone offers", _some(verdict.gone) if verdict.gone else ""),
            ("changed prices", str(verdict.changed) if verdict.changed else ""),
            ("largest change", verdict.biggest),
        ]
    if one.found is not None and one.found.left_out:
        rows.append(("left out", f"{words.count(len(one.found.left_out), 'row')}; --json names them"))
    if verdict is not None:
        rows += [
            ("looks wrong" if one.kept else "taken anyway", f"{found.what}: {_some(found.shown)}")
            for found in verdict.findings
        ]
    if one.state == "refused" and one.found is not None and (one.found.offers or one.found.zone_offers):
        rows.append(("to do", f"look at the source; if it is right: --accept {one.name}"))
    return [facts((name, text) for name, text in rows if text)]


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_SHOWN
    return "; ".join(texts[:MOST_SHOWN]) + (f"; and {more:,} more" if more > 0 else "")
