"""Price files that somebody has: read to be kept, or read anew for each request that names one."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

from rlopt.errors import Complaint, InputError
from rlopt.facts import Catalog
from rlopt.pricelists import store
from rlopt.pricelists.cells import CellError, day
from rlopt.pricelists.contract import Defaults, PriceList
from rlopt.pricelists.offers import price_list
from rlopt.pricelists.table import PriceTable, parse, read_bytes


def today() -> date:
    """The local day."""
    return datetime.now().astimezone().date()


def user_list(path: Path, catalog: Catalog) -> PriceList:
    """Read the price list that a request names; every row must be one that can be used.

    Raises
    ------
    InputError
        With every row that cannot be used.
    """
    table = parse(read_bytes(path), str(path))
    found = price_list(table, Defaults(None, "", path.name), catalog, path.name)
    if not found.own:
        message = f"is a list of {found.format}, not of your own prices"
        raise table.refuse(
            "", message, "the columns of docs/prices.md", f"bring it in: rlopt catalog import {path.name}"
        )
    complaints = []
    for row in found.left_out:
        message = f"{row.reason} (found {row.value!r})" if row.value else row.reason
        complaints.append(Complaint(row.file, row.line, row.column, message, fix="correct the row, or take it out"))
    if complaints:
        raise InputError(complaints)
    return _with_offers(found, table)


def read_file(path: Path, provider: str | None, name: str | None, as_of: str | None, catalog: Catalog) -> PriceList:
    """Read a price file to be kept.

    ``as_of``: the day of its prices where its rows do not say it; else the day on which the file was last changed.

    Raises
    ------
    InputError
        When it cannot be read at all, or no row of it gives an offer.
    """
    table = parse(read_bytes(path), str(path))
    defaults = Defaults(_provider(provider, catalog), _day(as_of, path), path.name)
    found = price_list(table, defaults, catalog, name or name_for(path))
    store.path_of(found.name)
    return _with_offers(found, table)


def _day(as_of: str | None, path: Path) -> str:
    if as_of is None:
        return date.fromtimestamp(path.stat().st_mtime).isoformat()  # noqa: DTZ012 - the user's own calendar
    try:
        return day(as_of, "--as-of")
    except CellError as error:
        raise InputError.of("--as-of", f"{as_of[:40]!r} is {error.reason}", fix="write --as-of 2026-11-30") from None


def _with_offers(found: PriceList, table: PriceTable) -> PriceList:
    if found.offers or found.zone_offers:
        return found
    shown = "\n  ".join(map(str, found.left_out[:5]))
    message = f"no row gives an offer ({found.rows} rows)" + (f"\n  {shown}" if shown else "")
    raise table.refuse("", message, "prices of machines that the catalogs know", "see docs/prices.md")


def _provider(given: str | None, catalog: Catalog) -> str | None:
    """The catalogs' spelling of a provider; others are taken as they are."""
    known = {shape.provider.lower(): shape.provider for shape in catalog.shapes.values()}
    return None if given is None else known.get(given.lower(), given)


def name_for(path: Path) -> str:
    """Name of a user catalog from that of its file."""
    return re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("-._")[:64] or "prices"


def keep(found: PriceList, catalog: Catalog) -> Path:
    """Keep a list that was read from a file, in place of the one of that name."""
    with store.locked():
        return store.save(found, catalog, today())
