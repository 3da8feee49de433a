"""What a configuration says that a pool of its own costs, beside what the catalogs list."""

from __future__ import annotations

from math import isclose

from rlopt.answers.configuration import PoolGiven
from rlopt.facts import Catalog
from rlopt.market.market import discount_of, usd_rate
from rlopt.request import Request


def usd_per_node(pool: PoolGiven, each: int) -> float:
    """USD an hour of one machine of ``each`` GPUs."""
    if pool.usd_per_node_hour is not None:
        return pool.usd_per_node_hour
    if pool.usd_per_gpu_hour is not None:
        return pool.usd_per_gpu_hour * each
    nodes = pool.nodes or max((pool.gpus or each) // each, 1)
    return (pool.usd_per_hour or 0.0) / nodes


def as_listed(pool: PoolGiven, request: Request, catalog: Catalog) -> bool:
    """Whether the stated price is that of the catalog, as in a plan that was just solved."""
    offer = next((one for one in (*catalog.offers, *catalog.zone_offers) if one.id == pool.offer), None)
    if offer is None:
        return False
    rate = usd_rate(offer.currency, request)
    listed = offer.price_per_hour * (rate or 0.0) * (1.0 - discount_of(offer, request))
    return rate is not None and isclose(usd_per_node(pool, offer.gpus), listed, rel_tol=1e-6)


def without_price(pool: PoolGiven) -> PoolGiven:
    """The pool without a price of its own."""
    return pool.model_copy(update={"usd_per_hour": None, "usd_per_node_hour": None, "usd_per_gpu_hour": None})
