"""What a request takes from its own price list: offers over the catalog's, and how many machines there are of each."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from rlopt.facts import Catalog
from rlopt.pricelists.files import user_list
from rlopt.pricelists.merge import laid_over, title_of
from rlopt.request import Quota, Request


def with_own_prices(request: Request, catalog: Catalog) -> Catalog:
    """The catalog with the offers of ``choices.offers`` over its own; itself where the request names none.

    Raises
    ------
    InputError
        With every row of the price list that cannot be used.
    """
    if request.choices.offers is None:
        return catalog
    path = Path(request.choices.offers)
    if title_of(path.name) in {entry.name for entry in catalog.provenance}:
        return catalog  # a part of a request that was already given its prices
    return laid_over(catalog, [user_list(path, catalog)])


def with_capacity(request: Request, catalog: Catalog) -> tuple[Request, list[str]]:
    """The request with a quota for each own offer of which only so many can be had, and what to know of own prices.

    A request that has a quota for that very offer keeps it: it was opened to see what more machines are worth.
    """
    own = [offer for offer in chain(catalog.offers, catalog.zone_offers) if offer.net]
    limited = {offer.id: offer for offer in own if offer.most_nodes is not None}
    stated = {row.offer for row in request.limits.quotas}
    rows = [
        Quota(offer=offer.id, max_gpus=(offer.most_nodes or 0) * offer.gpus)
        for offer in limited.values()
        if offer.id not in stated
    ]
    if rows:
        request = request.replaced("limits.quotas", (*request.limits.quotas, *rows))
    notes = [
        f"limits.quotas[{number}] is from your price list: at most {row.max_gpus} GPUs of {row.offer}"
        for number, row in enumerate(request.limits.quotas)
        if row.offer in limited
    ]
    discounted = sorted({offer.provider for offer in own} & set(request.choices.discounts))
    notes += [f"choices.discounts of {name} is not taken off your own prices there" for name in discounted]
    return request, notes
