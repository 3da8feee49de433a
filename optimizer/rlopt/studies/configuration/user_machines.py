"""Machines that a configuration stands on: offers of the catalogs, or its own at the price that it states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from rlopt.answers.configuration import Configuration, PoolGiven
from rlopt.errors import InputError, MissingFactError
from rlopt.facts import Catalog, Offer
from rlopt.market.market import named_devices, open_market
from rlopt.problem import Market
from rlopt.request import Request
from rlopt.studies.configuration.user_price import as_listed, usd_per_node, without_price
from rlopt.studies.configuration.user_shape import user_shape
from rlopt.words import Confidence, Grade, PricingKind

OWN: Final = "own"
"""Provider of machines that no provider is stated of."""
OPEN: Final[dict[str, Any]] = {
    "gpus": None,
    "pricing": tuple(PricingKind),
    "regions": None,
    "providers": None,
    "countries": None,
    "zones": None,
    "grades": tuple(Grade),
    "price_confidence": tuple(Confidence),
}
"""Choices of machines, each opened as wide as it goes."""
TURNS: Final = (
    (),
    *((key,) for key in OPEN),
    ("gpus", "providers"),
    ("gpus", "pricing"),
    ("providers", "regions"),
    tuple(OPEN),
)
"""What is opened, in turn, until the machines of a configuration can be had."""


@dataclass(frozen=True, slots=True)
class UserMachines:
    """Offers that each pool may stand on."""

    catalog: Catalog
    """With the configuration's own machines."""
    ids: tuple[frozenset[str], ...]
    """By pool."""
    own: frozenset[str] = frozenset()
    """Offers whose price the configuration states."""
    outside: tuple[str, ...] = ()
    """Choices of the request that do not allow them."""
    notes: tuple[str, ...] = ()

    @property
    def all(self) -> frozenset[str]:
        """Every offer that any pool may stand on."""
        return frozenset().union(*self.ids)


def opened(request: Request, keys: tuple[str, ...] = tuple(OPEN)) -> Request:
    """The request with choices of machines as wide as they go."""
    for key in keys:
        request = request.replaced(f"choices.{key}", OPEN[key])
    return request


def admitting(request: Request, machines: UserMachines) -> Request:
    """The request with its choices opened for the machines of a configuration, and no further.

    Prices of storage and of machines without GPUs obey the same choices: opened wider than need be, they would be
    other prices.
    """
    wide = opened(request, tuple(key.partition(".")[2] for key in machines.outside))
    for offer in machines.catalog.offers:
        if offer.id not in machines.own:
            continue
        choices = wide.choices
        needed = {
            "providers": offer.provider,
            "gpus": offer.device,
            "pricing": offer.pricing,
            "grades": offer.grade,
            "price_confidence": offer.confidence,
        }
        if offer.zone is not None:
            needed["zones"] = offer.zone
        for key, value in needed.items():
            allowed = getattr(choices, key)
            if allowed is not None and value not in allowed:
                wide = wide.replaced(f"choices.{key}", (*allowed, value))
        wide = opened(wide, ("regions", "countries"))
    return wide


def machines_of(config: Configuration, request: Request, catalog: Catalog) -> UserMachines:
    """Find the machines of every pool. Raises InputError where there are none."""
    ids: dict[int, frozenset[str]] = {}
    own: set[str] = set()
    outside: dict[str, None] = {}
    notes: list[str] = []
    listed = catalog
    devices = [_devices(config, pool, listed) for pool in config.pools]
    stated = [pool.has_user_price and not as_listed(pool, request, listed) for pool in config.pools]
    for number in sorted(range(len(stated)), key=lambda n: stated[n]):  # a price stated for one pool is no other's
        pool = config.pools[number]
        if stated[number]:
            offer, assumed = _user_offer(config, pool, devices[number], listed)
            offer = _named_apart(offer, number + 1, frozenset().union(*ids.values()), catalog)
            catalog = _with_offer(catalog, offer)
            own.add(offer.id)
            ids[number] = frozenset((offer.id,))
            notes += [one for one in assumed if one not in notes]
            continue
        ids[number], keys = _listed(config, pool, devices[number], request, listed)
        outside |= dict.fromkeys(f"choices.{key}" for key in keys)
    in_order = tuple(ids[number] for number in range(len(stated)))
    return UserMachines(catalog, in_order, frozenset(own), tuple(outside), tuple(notes))


def _named_apart(offer: Offer, number: int, used: frozenset[str], catalog: Catalog) -> Offer:
    """The offer of the pool of that number under a name that no pool before it stands on with other facts."""
    while offer.id in used and offer not in (*catalog.offers, *catalog.zone_offers):
        offer = replace(offer, id=f"{offer.id}/{number}")
    return offer


def _with_offer(catalog: Catalog, offer: Offer) -> Catalog:
    """The catalog with an offer in place of what it lists under that name; spot is listed by zone too."""
    offers, zoned = (
        tuple(one for one in listed if one.id != offer.id) for listed in (catalog.offers, catalog.zone_offers)
    )
    return replace(
        catalog, offers=(*offers, offer), zone_offers=(*zoned, *((offer,) if offer.pricing == "spot" else ()))
    )


def _devices(config: Configuration, pool: PoolGiven, catalog: Catalog) -> frozenset[str] | None:
    """GPU types that a pool's word means; None where none is stated."""
    if pool.gpu is None:
        return None
    try:
        return named_devices(pool.gpu, catalog)
    except MissingFactError as error:
        allowed = "a GPU of rlopt catalog list gpus, or a family such as H100"
        raise config.wrong(pool, "gpu", f"{pool.gpu!r} is no known GPU", allowed, error.fix or "name another") from None


def _fits(pool: PoolGiven, devices: frozenset[str] | None) -> Callable[[Offer], bool]:
    """Whether an offer is what a pool states."""
    wanted = {"provider": pool.provider, "region": pool.region, "zone": pool.zone, "pricing": pool.pricing}
    stated = {name: value for name, value in wanted.items() if value is not None}
    if pool.offer is not None:  # one offer of a region serves all its zones
        stated.pop("zone", None)

    def fits(offer: Offer) -> bool:
        shape = offer.shape
        return (
            (devices is None or shape.device in devices)
            and all(getattr(offer, name) == value for name, value in stated.items())
            and pool.offer in (None, offer.id)
            and pool.instance_type in (None, shape.instance_type)
            and pool.gpus_per_node in (None, shape.gpus)
            and (pool.gpus is None or pool.gpus % shape.gpus == 0)
            and (pool.gpus is None or pool.nodes is None or pool.gpus == pool.nodes * shape.gpus)
        )

    return fits


def _rented(pool: PoolGiven, market: Market, number: int) -> bool:
    """Whether an offer has as many machines as the pool states, linked where it trains."""
    offer, topology = market.offers[number], market.topologies[int(market.topology[number])]
    nodes = pool.nodes or (pool.gpus or offer.shape.gpus) // offer.shape.gpus
    most = int(market.max_nodes[number])
    return nodes <= most and (nodes == 1 or topology.cluster or pool.role != "train")


def _listed(
    config: Configuration, pool: PoolGiven, devices: frozenset[str] | None, request: Request, catalog: Catalog
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Offers of the catalogs for a pool, with as few choices opened as that takes."""
    fits, limit = _fits(pool, devices), 1 << 20
    if not any(fits(offer) for offer in (*catalog.offers, *catalog.zone_offers)):
        raise _nothing(config, pool, devices, catalog)
    for keys in TURNS:
        try:
            market = open_market(opened(request, keys), catalog, limit)
        except MissingFactError:
            continue
        at = [n for n, offer in enumerate(market.offers) if fits(offer) and _rented(pool, market, n)]
        if at:
            return frozenset(market.offers[n].id for n in at), keys
    raise _nothing(config, pool, devices, catalog, rented=False)


def _nothing(
    config: Configuration,
    pool: PoolGiven,
    devices: frozenset[str] | None,
    catalog: Catalog,
    rented: bool = True,
) -> InputError:
    """No offer is such a pool: the key to blame is the first that leaves none."""
    fix = "correct it, or give usd_per_gpu_hour: the machines are then your own"
    if not rented:
        what = f"{pool.gpus or pool.nodes} {'GPUs' if pool.gpus else 'machines'}"
        message = f"no offer gives one pool of {what}, as it is stated, with a known network between its machines"
        return config.wrong(pool, "gpus" if pool.gpus else "nodes", message, "as many as can be rented together", fix)
    left = [offer for offer in (*catalog.offers, *catalog.zone_offers) if devices is None or offer.device in devices]
    if not left:
        return config.wrong(pool, "gpu", f"no offer of the catalogs has the GPU {pool.gpu}", "a GPU with a price", fix)
    for key in ("provider", "offer", "instance_type", "region", "zone", "pricing", "gpus_per_node"):
        value = getattr(pool, key)
        if value is None:
            continue
        names = {
            offer: {"instance_type": offer.shape.instance_type, "gpus_per_node": offer.gpus, "offer": offer.id}.get(
                key, getattr(offer, key, None)
            )
            for offer in left
        }
        kept = [offer for offer, name in names.items() if name == value]
        if not kept:
            known = sorted({str(name) for name in names.values() if name is not None})
            near = get_close_matches(str(value)[:80], known, 3, 0.5)
            shown = [*near, *(name for name in known if name not in near)]
            some = ", ".join(shown[:8]) + (" ..." if len(known) > 8 else "")
            return config.wrong(pool, key, f"no such {key.replace('_', ' ')} with these GPUs: {value!r}", some, fix)
        left = kept
    sizes = sorted({offer.gpus for offer in left})
    each = " or ".join(map(str, sizes)) or "no"
    message = f"{pool.gpus or pool.nodes} are no whole machines: they have {each} GPUs each"
    return config.wrong(pool, "gpus", message, f"a multiple of {each}", fix)


def _user_offer(
    config: Configuration, pool: PoolGiven, devices: frozenset[str] | None, catalog: Catalog
) -> tuple[Offer, list[str]]:
    """The pool's machines at the price that it states, and what was assumed of them."""
    provider, notes = pool.provider or OWN, list[str]()
    known = next((one for one in catalog.offers if _fits(without_price(pool), devices)(one)), None)
    if known is not None and (pool.instance_type or pool.offer):
        shape, each = known.shape, known.gpus
    else:
        shape, notes = user_shape(config, pool, devices, catalog, provider)
        each = shape.gpus
    pricing, usd = pool.pricing or "on_demand", usd_per_node(pool, each)
    if pricing == "reserved" and (known is None or not known.term_hours):
        pricing = "on_demand"
    place = f"{pool.region or 'any'}/{pool.zone or 'any'}"
    offer = Offer(
        id=pool.offer or f"{provider}/{place}/{shape.instance_type}/{pricing}",
        shape=shape,
        provider=provider,
        region=pool.region,
        zone=pool.zone,
        country=None if known is None else known.country,
        pricing=pricing,
        term_hours=known.term_hours if known is not None and pricing == "reserved" else None,
        price_per_hour=usd,
        currency="USD",
        price_low=usd,
        price_high=usd,
        zones=1,
        grade="list",
        confidence="high",
        as_of="",
        source="stated in the configuration",
        note="",
        net=True,
    )
    if not usd:
        notes.append(
            f"{shape.instance_type} at {provider} costs nothing an hour, as stated: power and wear are not on the bill"
        )
    return offer, notes
