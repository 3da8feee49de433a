"""All facts of one run, frozen together."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from rlopt.errors import MissingFactError
from rlopt.facts.calibration import Calibration
from rlopt.facts.device import Device
from rlopt.facts.launcher import Launcher, SkyPilotNames
from rlopt.facts.measured import MeasuredNames
from rlopt.facts.model import Model
from rlopt.facts.network import Traffic
from rlopt.facts.node import Nodes
from rlopt.facts.offer import CpuOffer, Offer, Shape
from rlopt.facts.operations import Operations
from rlopt.facts.provenance import Provenance
from rlopt.facts.reliability import FailureRate
from rlopt.facts.service import CachePrice, Commitment, LogPrice
from rlopt.facts.storage import StorageTier, Store
from rlopt.facts.storage_speed import StorageSpeed


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    return f"nearest known: {', '.join(near)}" if near else f"{len(known)} are known, none is near"


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything the catalogs hold.

    Parameters
    ----------
    offers, zone_offers
        One offer per region (spot: median over the zones); spot offers of single zones, used only
        when the request names zones.
    devices
        By name.
    families
        Lower-case word of a request (``h100``, ``a100-80gb``) to the device names it stands for.
    models, aliases
        By canonical name; lower-case spelling to canonical name.
    missing_models
        Lower-case spelling of a model that is known by name but lacks a fact, to that lack.
    countries
        ``(provider, region)`` to the ISO country code, where known.
    reference_regions
        Provider to the region whose storage and traffic prices stand in for the others.
    left_out
        Reason to the number of price rows that were not turned into offers.
    """

    offers: tuple[Offer, ...]
    zone_offers: tuple[Offer, ...]
    shapes: Mapping[str, Shape]
    cpu_offers: tuple[CpuOffer, ...]
    devices: Mapping[str, Device]
    families: Mapping[str, tuple[str, ...]]
    models: Mapping[str, Model]
    aliases: Mapping[str, str]
    missing_models: Mapping[str, str]
    storage: tuple[StorageTier, ...]
    traffic: tuple[Traffic, ...]
    logs: tuple[LogPrice, ...]
    caches: tuple[CachePrice, ...]
    commitments: tuple[Commitment, ...]
    reliability: tuple[FailureRate, ...]
    countries: Mapping[tuple[str, str], str]
    reference_regions: Mapping[str, str]
    provenance: tuple[Provenance, ...]
    left_out: Mapping[str, int]
    calibration: Calibration
    """Fitted constants of the estimates."""
    operations: Operations
    nodes: Nodes
    launchers: Mapping[str, Launcher]
    stores: Mapping[str, Store]
    """What is stated of storage, by ``provider/service``."""
    skypilot: SkyPilotNames
    measured: MeasuredNames
    speeds: Mapping[str, StorageSpeed] = field(default_factory=dict)
    """Throughput of mounted stores, by the id of their tier."""

    @property
    def has_own_prices(self) -> bool:
        """Whether any offer is one of the reader's own."""
        return any(offer.net for offer in chain(self.offers, self.zone_offers))

    def device(self, name: str) -> Device:
        """Return one GPU type by its exact name (capitals do not matter).

        Raises
        ------
        MissingFactError
            When no such type is known; names the nearest.
        """
        found = self.devices.get(name)
        if found is not None:
            return found
        for key, device in self.devices.items():
            if key.lower() == name.lower():
                return device
        lower = {key.lower(): key for key in self.devices}
        what = f"GPU {name!r}"
        raise MissingFactError(what, "memory and speed of the GPU", _nearest(name, lower))

    def devices_named(self, name: str) -> tuple[Device, ...]:
        """Return the types that a request's word means: all forms of a family, or one type.

        Raises
        ------
        MissingFactError
            When it is neither a type nor a family; names the nearest.
        """
        family = self.families.get(name.lower())
        return tuple(self.devices[key] for key in family) if family else (self.device(name),)

    def model(self, name: str) -> Model:
        """Return one model by any of its spellings.

        Raises
        ------
        MissingFactError
            When the model lacks a fact (named), or is unknown (the nearest names are given).
        """
        spelling = name.strip().lower()
        canonical = self.aliases.get(spelling)
        if canonical is not None:
            return self.models[canonical]
        lack = self.missing_models.get(spelling)
        what = f"model {name!r}" if lack is None else f"{lack} (model {name!r})"
        fix = "give a path to its config.json or its fields inline"
        if lack is None:
            fix = f"{_nearest(name, self.aliases)}; or {fix}"
        raise MissingFactError(what, "weights, FLOPs and KV cache of the model", fix)

    def failure_rate(self, kind: str, provider: str, device: str, pricing: str) -> FailureRate:
        """Return the rate that fits best: a named provider counts most, then the device, then the pricing.

        Raises
        ------
        MissingFactError
            When not even a rate for ``any`` is known.
        """
        best: FailureRate | None = None
        best_score = -1
        for rate in self.reliability:
            if rate.kind != kind:
                continue
            score = 0
            for weight, have, want in (
                (4, rate.provider, provider),
                (2, rate.device, device),
                (1, rate.pricing, pricing),
            ):
                if have == want:
                    score += weight
                elif have != "any":
                    score = -100
            if score > best_score:
                best, best_score = rate, score
        if best is None:
            what = f"{kind} rate of {provider} {device}"
            raise MissingFactError(what, "expected time", "add a row to reliability.csv")
        return best

    def country(self, provider: str, region: str | None) -> str | None:
        """Return the ISO country code of a region, ``None`` where unknown."""
        return None if region is None else self.countries.get((provider, region))
