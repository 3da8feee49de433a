"""Public price lists fetched anew: what there was stays until the new list is whole and sane."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rlopt.data_dir import user_catalogs_dir
from rlopt.errors import InputError
from rlopt.facts import Catalog
from rlopt.pricelists import store
from rlopt.pricelists.contract import Defaults, PriceList
from rlopt.pricelists.fetch import Fetched, Fetcher, FetchError, FetchLimits
from rlopt.pricelists.files import today
from rlopt.pricelists.gate import Verdict, judge
from rlopt.pricelists.offers import price_list
from rlopt.pricelists.sources import PriceSource
from rlopt.pricelists.table import parse

State = Literal["renewed", "unchanged", "refused", "unreachable"]


@dataclass(frozen=True, slots=True)
class RefreshOutcome:
    """What became of one list.

    ``state``: renewed (it is kept now) | unchanged | refused | unreachable; in the last two what there was stays.
    ``why`` says it in words where the list could not even be read.
    """

    name: str
    state: State
    source: str
    found: PriceList | None = None
    verdict: Verdict | None = None
    why: str = ""
    old: PriceList | None = None

    @property
    def kept(self) -> bool:
        """Whether the prices are still those from before, for want of good new ones."""
        return self.state in ("refused", "unreachable")


def refresh(
    sources: Sequence[PriceSource],
    catalog: Catalog,
    accepted: Collection[str] = (),
    address: str | None = None,
    dry_run: bool = False,
    limits: FetchLimits | None = None,
) -> list[RefreshOutcome]:
    """Fetch lists anew, one by one; each that passes the gate takes the place of its old one.

    Parameters
    ----------
    accepted
        Names of lists that are taken whatever the gate finds.
    address
        An address of one's own for the only source.

    Raises
    ------
    InputError
        When another process is changing the user catalogs.
    """
    with store.locked():
        fetcher = Fetcher(user_catalogs_dir() / ".cache" / "http.sqlite", limits)
        try:
            outcomes = []
            for one in sources:
                outcomes.append(_one(one, address or one.url, fetcher, catalog, one.name in accepted, dry_run))
            return outcomes
        finally:
            fetcher.close()


def _one(
    source: PriceSource, url: str, fetcher: Fetcher, catalog: Catalog, accepted: bool, dry_run: bool
) -> RefreshOutcome:
    old = store.load(source.name, catalog) if source.name in store.names() else None
    try:
        outcome = _judged(source, fetcher.get(url), old, catalog, accepted)
    except FetchError as error:
        return RefreshOutcome(source.name, "unreachable", url, why=str(error), old=old)
    except InputError as error:
        outcome = RefreshOutcome(source.name, "refused", url, why=str(error), old=old)
    if outcome.state == "refused":
        fetcher.drop(url)
    elif outcome.state == "renewed" and not dry_run and outcome.found is not None:
        store.save(outcome.found, catalog, today())
    return outcome


def _judged(
    source: PriceSource, answer: Fetched, old: PriceList | None, catalog: Catalog, accepted: bool
) -> RefreshOutcome:
    """Read and judge an answer. Raises InputError where it cannot be read."""
    table = parse(answer.data, answer.url)
    defaults = Defaults(source.provider or None, answer.as_of.isoformat(), answer.url)
    found = price_list(table, defaults, catalog, source.name)
    verdict = judge(found, old, catalog, table.ends or answer.whole)
    empty = not found.offers and not found.zone_offers
    if verdict.findings and (empty or not accepted):
        state: State = "refused"
    else:
        state = "unchanged" if old is not None and _same(found, old) else "renewed"
    return RefreshOutcome(source.name, state, answer.url, found, verdict, old=old)


def _same(found: PriceList, old: PriceList) -> bool:
    """Whether a list says what the old one said."""
    return replace(found, read_on=old.read_on, left_out=old.left_out) == old
