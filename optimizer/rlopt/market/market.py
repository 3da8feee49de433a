"""Which offers a request may use: the catalog cut by `choices`, with a count for everything left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, Offer
from rlopt.market.places import check_places
from rlopt.market.stores import unreached
from rlopt.problem import Market, Topology
from rlopt.request import Request
from rlopt.units import bytes_to_gib

UNKNOWN_REGION = "offers without a stated region, while regions are named"
NO_TERM = "reserved offers whose term is not known"
NO_RATE = "offers in a currency without an exchange rate"


def named_devices(wanted: str, catalog: Catalog) -> frozenset[str]:
    """Devices that a word in a request stands for: one type, or all forms of a family. MissingFactError for none."""
    return frozenset(device.name for device in catalog.devices_named(wanted))


def usd_rate(currency: str, request: Request) -> float | None:
    """USD per unit of ``currency``, None where the request gives no rate."""
    return request.costs.usd_per_unit(currency)


def discount_of(offer: Offer, request: Request) -> float:
    """Share that the request takes off the price of ``offer``: none of a price that is what one pays."""
    return 0.0 if offer.net else (request.choices.discounts or {}).get(offer.provider, 0.0)


def allowed_regions(request: Request, provider: str) -> frozenset[str] | None:
    """Regions of ``provider`` that the request allows; None stands for any."""
    regions = request.choices.regions
    if regions is None:
        return None
    if isinstance(regions, Mapping):
        chosen = regions.get(provider, "any")
        return None if chosen == "any" else frozenset(chosen)
    return frozenset(regions)


def _reason(offer: Offer, request: Request, catalog: Catalog, devices: Mapping[str, bool]) -> str | None:
    """Why ``offer`` is not in play; None where it is."""
    choices = request.choices
    named = choices.providers is not None and offer.provider in choices.providers
    if choices.providers is not None and not named:
        return "choices.providers"
    if not devices.get(offer.shape.device, False):
        return "choices.gpus" if offer.shape.device in devices else "devices without facts"
    if offer.pricing not in choices.pricing:
        return "choices.pricing"
    if offer.pricing == "reserved" and not offer.term_hours:
        return NO_TERM
    if choices.zones is not None and offer.zone not in (None, *choices.zones):
        return "choices.zones"
    regions = allowed_regions(request, offer.provider)
    if regions is not None and offer.region not in regions:
        return UNKNOWN_REGION if offer.region is None else "choices.regions"
    if choices.countries is not None and offer.country not in choices.countries:
        return "choices.countries"
    if offer.grade not in choices.grades and not (offer.grade == "marketplace" and named):
        return "choices.grades"
    if usd_rate(offer.currency, request) is None:
        return NO_RATE
    return None


def _by_confidence(offers: Sequence[Offer], request: Request) -> tuple[list[Offer], int, list[str]]:
    """Offers whose price is trusted enough; a named provider that has only low ones keeps them, with a warning."""
    wanted = set(request.choices.price_confidence)
    trusted = [offer for offer in offers if offer.confidence in wanted]
    served = {offer.provider for offer in trusted}
    named = set(request.choices.providers or ())
    rescued = [
        offer
        for offer in offers
        if offer.confidence not in wanted and offer.provider in named and offer.provider not in served
    ]
    warnings = [
        f"{offer.id}: price of low confidence, used because the provider is named and has no better one"
        for offer in rescued
    ]
    return trusted + rescued, len(offers) - len(trusted) - len(rescued), warnings


def _most_nodes(offer: Offer, gpu_limit: int) -> int:
    """Nodes that one pool may take of an offer. A single marketplace card has no stated interconnect: one node."""
    most = max(0, gpu_limit // offer.shape.gpus)
    if offer.grade == "marketplace":
        most = min(most, 1)
    return most if offer.shape.max_nodes is None else min(most, offer.shape.max_nodes)


def _priced(request: Request, catalog: Catalog) -> Sequence[Offer]:
    """The region's median stands for spot, unless zones are named: then each zone's own price does."""
    if request.choices.zones is None:
        return catalog.offers
    return [*(offer for offer in catalog.offers if offer.pricing != "spot"), *catalog.zone_offers]


def open_market(
    request: Request, catalog: Catalog, gpu_limit: int, only: Callable[[Offer], bool] | None = None
) -> Market:
    """Cut the catalog by the request's choices, and to the offers that ``only`` lets through.

    Raises MissingFactError where the request names a provider or region that no row knows, and where nothing is left
    because of a fact that the catalog or the request lacks.
    """
    check_places(request, catalog)
    wanted = request.choices.gpus
    named = catalog.devices.keys() if wanted is None else {n for w in wanted for n in named_devices(w, catalog)}
    usable = {name: name in named for name in catalog.devices}
    without = unreached(request, catalog, ((one.provider, one.region) for one in catalog.offers))
    left_out: Counter[str] = Counter()
    kept: list[Offer] = []
    for offer in _priced(request, catalog):
        reason = _reason(offer, request, catalog, usable)
        if reason is None and (offer.provider, offer.region) in without:
            reason = "limits.storage"
        if reason is None:
            kept.append(offer)
        else:
            left_out[reason] += 1
    kept, distrusted, warnings = _by_confidence(kept, request)
    kept = kept if only is None else [offer for offer in kept if only(offer)]
    if distrusted:
        left_out["choices.price_confidence"] = distrusted
    if not kept and left_out["limits.storage"]:
        raise MissingFactError(
            "a store that is stated to be what limits.storage asks for",
            f"{left_out['limits.storage']} offers have none in reach",
            "name another provider in choices.providers or costs.storage_provider, or ask for less",
        )
    if not kept and left_out[NO_RATE]:
        raise MissingFactError(
            "an exchange rate",
            "every matching offer is billed in another currency",
            "give costs.exchange_rates, for instance {CNY: 0.14 USD}",
        )
    if left_out[UNKNOWN_REGION]:
        warnings.append(f"{left_out[UNKNOWN_REGION]} {UNKNOWN_REGION}: left out")
    if left_out[NO_RATE]:
        warnings.append(f"{left_out[NO_RATE]} {NO_RATE}: left out; costs.exchange_rates brings them in")
    market = _columns(kept, request, gpu_limit, left_out, warnings)
    boots = {row.provider for row in catalog.storage if row.kind == "block" and usd_rate(row.currency, request)}
    image = catalog.nodes.disk_image_gib
    return replace(market, boot_disk_gib=np.array([image if one.provider in boots else 0.0 for one in market.offers]))


def _in_every_zone(offers: Sequence[Offer]) -> list[Offer]:
    """Offers of a whole region once for each of its zones that another offer names: they can be had in any of them."""
    named: dict[tuple[str, str | None], dict[str, None]] = {}
    for offer in offers:
        if offer.zone is not None:
            named.setdefault((offer.provider, offer.region), {})[offer.zone] = None
    found = []
    for offer in offers:
        zones = named.get((offer.provider, offer.region), {}) if offer.zone is None else {}
        found += [replace(offer, zone=zone) for zone in zones] or [offer]
    return found


def _columns(
    kept: Sequence[Offer], request: Request, gpu_limit: int, left_out: Mapping[str, int], warnings: Sequence[str]
) -> Market:
    kept = _in_every_zone(kept)
    zones: dict[tuple[str, str | None, str | None], int] = {}
    topologies: dict[Topology, int] = {}
    zone, topology = np.zeros(len(kept), np.int64), np.zeros(len(kept), np.int64)
    for i, offer in enumerate(kept):
        shape = offer.shape
        cluster = shape.cluster == "yes" and bool(shape.internode_gbps) and offer.grade != "marketplace"
        key = Topology(shape.device, shape.gpus, shape.intra, shape.internode_gbps if cluster else None, cluster)
        topology[i] = topologies.setdefault(key, len(topologies))
        zone[i] = zones.setdefault((offer.provider, offer.region, offer.zone), len(zones))
    limit = request.limits.host_memory
    host = [bytes_to_gib(limit) if limit is not None else (offer.shape.host_memory_gib or 0.0) for offer in kept]
    prices = [
        offer.price_per_hour * (usd_rate(offer.currency, request) or 0.0) * (1.0 - discount_of(offer, request))
        for offer in kept
    ]
    return Market(
        offers=tuple(kept),
        usd_per_hour=np.array(prices, dtype=np.float64),
        zone=zone,
        topology=topology,
        gpus=np.array([offer.shape.gpus for offer in kept], dtype=np.int64),
        spot=np.array([offer.pricing == "spot" for offer in kept], dtype=np.bool_),
        host_memory_gib=np.array(host, dtype=np.float64),
        max_nodes=np.array([_most_nodes(offer, gpu_limit) for offer in kept], dtype=np.int64),
        term_hours=np.array([offer.term_hours or 0.0 for offer in kept], dtype=np.float64),
        local_disk_gib=np.array([offer.shape.local_disk_gib or 0.0 for offer in kept], dtype=np.float64),
        zones=tuple((provider, region) for provider, region, _ in zones),
        topologies=tuple(topologies),
        left_out=dict(left_out),
        warnings=tuple(warnings),
    )
