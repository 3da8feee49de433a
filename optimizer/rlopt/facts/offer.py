"""Machines that can be rented, and the prices they are rented at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """One machine type of one provider: what stands in the box, without a price.

    Parameters
    ----------
    key
        ``provider/instance_type``, unique.
    provider, instance_type
        The provider's name and its own name for the machine.
    aliases
        Other names that price sources use for the same machine.
    device, gpus
        GPU type (a name of the device catalog) and how many of it.
    intra
        Link between the GPUs of the machine: ``none``, ``pcie``, ``nvlink`` (pairs or a mesh),
        ``nvswitch`` (all to all) or ``nvl72`` (a rack-wide NVLink domain).
    vcpus, host_memory_gib, local_disk_gib
        ``None`` where not found; a local disk of 0 means there is none.
    internode_gbps
        Sum over the GPU fabric ports of one node, Gb/s; ``None`` where no figure was found.
    cluster
        Whether nodes of this type can be joined by a fabric: ``yes``, ``no`` or ``unknown``.
    max_nodes
        Largest cluster with a public record; no promise of stock.
    grade
        ``list`` (the provider's own price), ``marketplace`` or ``aggregator``.
    """

    key: str
    provider: str
    instance_type: str
    aliases: tuple[str, ...]
    device: str
    gpus: int
    intra: str
    vcpus: float | None
    host_memory_gib: float | None
    local_disk_gib: float | None
    internode_gbps: float | None
    cluster: str
    max_nodes: int | None
    grade: str
    notes: str
    source: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A machine at a price, in one region (or anywhere), in one way of paying.

    Parameters
    ----------
    id
        ``provider/region-or-any/zone-or-any/instance_type/pricing``, unique.
    region, zone, country
        ``None`` where the price names none; an offer without a region serves ``regions: any`` only.
        `country` is an ISO 3166-1 alpha-2 code.
    pricing
        ``on_demand``, ``spot`` or ``reserved``.
    term_hours
        Billed term of a reserved offer, hours.
    price_per_hour
        The whole machine, in `currency`.
    price_low, price_high
        Band over the zones that the median covers (spot); both equal the price elsewhere.
    zones
        How many zones stand behind the price.
    grade, confidence
        Trust in the kind of price and in this figure (``high``, ``medium``, ``low``).
    as_of
        ISO date (``2026-09``, ``2026-09-20``) or empty when the source carries none.
    net
        Whether the price is what its reader pays, so that no discount is taken off.
    most_nodes
        Machines of this offer that one can have at the same time; ``None`` where nothing says so.
    """

    id: str
    shape: Shape
    provider: str
    region: str | None
    zone: str | None
    country: str | None
    pricing: str
    term_hours: float | None
    price_per_hour: float
    currency: str
    price_low: float
    price_high: float
    zones: int
    grade: str
    confidence: str
    as_of: str
    source: str
    note: str
    net: bool = False
    most_nodes: int | None = None

    @property
    def device(self) -> str:
        """Name of the GPU type."""
        return self.shape.device

    @property
    def gpus(self) -> int:
        """GPUs of one machine."""
        return self.shape.gpus

    @property
    def price_per_gpu_hour(self) -> float:
        """Price of one GPU for one hour, in `currency`."""
        return self.price_per_hour / self.shape.gpus


@dataclass(frozen=True, slots=True)
class CpuOffer:
    """A machine without a GPU at a price: control nodes, data preparation, simulators.

    `price_per_hour` is for the whole machine in `currency`; `as_of` and `confidence` as in `Offer`.
    """

    id: str
    provider: str
    region: str | None
    country: str | None
    instance_type: str
    vcpus: float
    memory_gib: float
    pricing: str
    price_per_hour: float
    currency: str
    grade: str
    confidence: str
    as_of: str
    source: str
