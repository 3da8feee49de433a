"""The prices that plans rest on: the shipped ones, under those that were brought in, under the request's own."""

from __future__ import annotations

from rlopt.data_dir import user_catalogs_dir
from rlopt.facts import Catalog
from rlopt.facts.files.folder import load_catalog
from rlopt.request import Request


def catalog() -> Catalog:
    """Every fact the package ships, with the user catalogs over it, each read once.

    Raises InputError where a user catalog is damaged.
    """
    if not user_catalogs_dir().is_dir():  # all that most runs ask
        return load_catalog()
    from rlopt.pricelists.store import with_user_catalogs

    return with_user_catalogs(load_catalog())


def facts_of(request: Request, facts: Catalog | None = None) -> Catalog:
    """The catalog that a request is planned with: ``facts`` or that of `catalog`, with its own price list over it.

    Raises InputError with every row of the price list that cannot be used.
    """
    known = catalog() if facts is None else facts
    if request.choices.offers is None:
        return known
    from rlopt.pricelists.request_list import with_own_prices

    return with_own_prices(request, known)


def within_capacity(request: Request, facts: Catalog) -> tuple[Request, list[str]]:
    """The request with quotas for own machines of which there are only so many, and what to know of own prices."""
    if not facts.has_own_prices:
        return request, []
    from rlopt.pricelists.request_list import with_capacity

    return with_capacity(request, facts)
