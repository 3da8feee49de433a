"""The catalogs as plain records: filtered, counted, looked up. No layout; text and JSON share them."""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rlopt.errors import MissingFactError
from rlopt.facts.catalog import Catalog
from rlopt.facts.offer import Offer

Record = dict[str, Any]


def matching_offers(
    catalog: Catalog,
    provider: str | None = None,
    region: str | None = None,
    gpu: str | None = None,
    pricing: str | None = None,
) -> tuple[Offer, ...]:
    """Offers that pass every filter given; capitals do not matter, a GPU family means all its forms.

    Raises
    ------
    MissingFactError
        When no offer at all is from such a provider, region or GPU.
    """
    devices = None if gpu is None else {device.name for device in catalog.devices_named(gpu)}
    _known("provider", provider, {offer.provider for offer in catalog.offers})
    _known("region", region, {offer.region for offer in catalog.offers if offer.region is not None})
    return tuple(
        offer
        for offer in catalog.offers
        if (provider is None or offer.provider.lower() == provider.lower())
        and (region is None or (offer.region or "").lower() == region.lower())
        and (devices is None or offer.device in devices)
        and (pricing is None or offer.pricing == pricing)
    )


def _known(what: str, name: str | None, known: set[str]) -> None:
    if name is None or name.lower() in {one.lower() for one in known}:
        return
    raise MissingFactError(f"{what} {name!r}", "the filtered list", _nearest(name, sorted(known)))


def _nearest(name: str, known: Sequence[str]) -> str:
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=5, cutoff=0.4)
    return f"nearest known: {', '.join(lower[one] for one in near)}" if near else "see rlopt catalog list"


def counts(catalog: Catalog, offers: Sequence[Offer]) -> Record:
    """Count offers by provider, and what each catalog file holds.

    Returns
    -------
    dict
        ``offers`` (rows of `provider_counts`), ``catalogs`` (name, date, rows, source) and ``left_out``
        (reason to number of price rows).
    """
    return {
        "offers": provider_counts(offers),
        "catalogs": [dataclasses.asdict(entry) for entry in catalog.provenance],
        "left_out": dict(catalog.left_out),
    }


def provider_counts(offers: Sequence[Offer]) -> list[Record]:
    """One record per provider, most offers first: number, grades, confidences, oldest and newest price."""
    rows = []
    for provider, number in Counter(offer.provider for offer in offers).most_common():
        own = [offer for offer in offers if offer.provider == provider]
        dates = sorted(offer.as_of for offer in own if offer.as_of)
        rows.append(
            {
                "provider": provider,
                "offers": number,
                "grade": dict(Counter(offer.grade for offer in own)),
                "confidence": dict(Counter(offer.confidence for offer in own)),
                "oldest": dates[0] if dates else None,
                "newest": dates[-1] if dates else None,
                "undated": sum(not offer.as_of for offer in own),
            }
        )
    return rows


def shelf(catalog: Catalog, name: str, offers: Sequence[Offer], gpu: str | None = None) -> list[Record]:
    """Every record of one shelf: ``offers`` (those given), ``devices`` or ``models``."""
    if name == "offers":
        return [offer_record(offer) for offer in sorted(offers, key=lambda offer: offer.id)]
    if name == "devices":
        devices = catalog.devices.values() if gpu is None else catalog.devices_named(gpu)
        return [record("device", device) for device in devices]
    return [record("model", model) for model in catalog.models.values()]


def look_up(catalog: Catalog, name: str) -> list[Record]:
    """Everything that is called `name`: an offer, a machine, a GPU (or its family), a model.

    Raises
    ------
    MissingFactError
        When nothing is; names the nearest.
    """
    wanted = name.strip().lower()
    found = [offer_record(offer) for offer in (*catalog.offers, *catalog.zone_offers) if offer.id.lower() == wanted]
    for shape in catalog.shapes.values():
        if wanted in {
            shape.key.lower(),
            shape.instance_type.lower(),
            *(alias.lower() for alias in shape.aliases),
        }:
            found.append(record("machine", shape))
            found += [offer_record(offer) for offer in catalog.offers if offer.shape.key == shape.key]
    if wanted in catalog.families or wanted in {device.lower() for device in catalog.devices}:
        found += [record("device", device) for device in catalog.devices_named(name.strip())]
    if wanted in catalog.aliases or wanted in catalog.missing_models:
        found.append(record("model", catalog.model(name)))
    if found:
        return found
    known = [
        *catalog.devices,
        *catalog.models,
        *catalog.aliases,
        *catalog.shapes,
        *(o.id for o in catalog.offers),
    ]
    raise MissingFactError(f"anything called {name!r}", "showing it", _nearest(name, known))


def offer_record(offer: Offer) -> Record:
    """One offer with the few facts of its machine that a reader wants beside the price."""
    fields = record("offer", offer)
    shape = fields.pop("shape")
    picked = ("instance_type", "device", "gpus", "vcpus", "host_memory_gib", "internode_gbps", "intra")
    return fields | {name: shape[name] for name in picked}


def record(kind: str, fact: Any) -> Record:
    """Turn a frozen fact into plain values that JSON can hold, its kind first."""
    return {"kind": kind} | {field.name: _plain(getattr(fact, field.name)) for field in dataclasses.fields(fact)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value
