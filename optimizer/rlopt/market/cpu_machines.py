"""Machines without GPUs: the head node, environments, what scores, a vCPU for compression, and what they boot from.

Order of prices: the region, `costs.vcpu_hour`, another region of the provider, `costs.storage_provider`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rlopt.errors import MissingFactError
from rlopt.facts import CpuOffer, Nodes
from rlopt.problem.tariff import CpuPool, Disk
from rlopt.request import Request
from rlopt.units import GIB, bytes_to_gb, bytes_to_gib
from rlopt.workloads import Workload
from rlopt.workloads.cpu_scoring import CpuScorers

VCPU_HOUR = "costs.vcpu_hour"
"""Stands in place of an offer where the request prices CPU time."""
SCORERS = "scorers"
"""Name of the pool."""
Place = tuple[str, str | None]
"""Provider and region."""


class CpuBook:
    """Prices of CPU machines by provider, each look-up done once."""

    def __init__(
        self, offers: Iterable[CpuOffer], request: Request, elsewhere: str, rate: Callable[[str], float]
    ) -> None:
        self.elsewhere, self.rate, self.vcpu_hour = elsewhere, rate, request.costs.vcpu_hour
        self.offers: dict[str, list[CpuOffer]] = {}
        for row in offers:
            listed = row.pricing == "on_demand" and row.grade == "list"
            if listed and row.confidence in request.choices.price_confidence and rate(row.currency):
                self.offers.setdefault(row.provider, []).append(row)
        self._best_cpu: dict[tuple[str, str, str | None], tuple[CpuOffer, int, float] | None] = {}

    def cpu(
        self, name: str, vcpus: float, memory_gib: float, count: int, provider: str, region: str | None
    ) -> tuple[CpuPool | None, list[str]]:
        """The cheapest machines that hold ``count`` workers of ``vcpus`` each; None where no price is known."""
        mine = self.offers.get(provider, [])
        steps = (
            (provider, region, [row for row in mine if row.region == region], ""),
            (provider, None, mine, f"{name}: CPU price of another region of {provider}"),
            (
                self.elsewhere,
                None,
                self.offers.get(self.elsewhere, []),
                f"{name}: {provider} lists no CPU machine, priced at {self.elsewhere}'s",
            ),
        )
        money = self.vcpu_hour
        for number, (owner, where, offers, note) in enumerate(steps):
            if number == 1 and money is not None:
                usd = money.amount * self.rate(money.currency) * vcpus * count
                return CpuPool(
                    name,
                    VCPU_HOUR,
                    provider,
                    region,
                    "vcpu",
                    count,
                    usd,
                    "request",
                    "",
                    "priced by costs.vcpu_hour",
                ), []
            key = (f"{name} {count} x {vcpus:g} {memory_gib:g}", owner, where if number == 0 else "any region")
            if key not in self._best_cpu:
                self._best_cpu[key] = self._cheapest_cpu(offers, vcpus, memory_gib, count)
            best = self._best_cpu[key]
            if best is not None:
                offer, nodes, usd = best
                return CpuPool(
                    name,
                    offer.id,
                    offer.provider,
                    offer.region,
                    offer.instance_type,
                    nodes,
                    usd,
                    offer.source,
                    offer.as_of,
                    note,
                ), [note] if note else []
        return None, [f"{name}: no CPU price is known, not on the bill"]

    def _cheapest_cpu(
        self, offers: list[CpuOffer], vcpus: float, memory_gib: float, count: int
    ) -> tuple[CpuOffer, int, float] | None:
        found = []
        for offer in offers:
            fits = int(min(offer.vcpus // vcpus, offer.memory_gib // memory_gib if memory_gib else math.inf))
            if fits:
                nodes = math.ceil(count / fits)
                found.append((nodes * offer.price_per_hour * self.rate(offer.currency), offer.id, nodes, offer))
        if not found:
            return None
        usd, _, nodes, offer = min(found, key=lambda row: row[:2])
        return offer, nodes, usd


def booting(machines: CpuPool | None, disk: Disk | None, nodes: Nodes) -> CpuPool | None:
    """The machines with a volume each to boot from; not where the request prices CPU time instead of machines."""
    if machines is None or disk is None or machines.offer == VCPU_HOUR:
        return machines
    return replace(machines, boot_gb=machines.nodes * bytes_to_gb(nodes.disk_image_gib * GIB))


def compression_vcpu(machines: CpuBook, request: Request, place: Place) -> tuple[CpuPool | None, list[str]]:
    """One vCPU for what may be compressed, and what to say of its price."""
    packed = request.job.compression  # checkpoints are packed by the processors of their own machines
    if packed.trajectories is None and packed.intermediates is None and packed.logs is None:
        return None, []
    return machines.cpu("compression", 1.0, 0.0, 1, *place)


def environment_machines(
    machines: CpuBook, workload: Workload, instances: int, place: Place
) -> tuple[CpuPool | None, list[str]]:
    """CPU machines of ``instances`` tools or simulators; none for robots and for simulators on the pool's GPUs.

    Raises MissingFactError where no price of such machines is known.
    """
    tools, acting = workload.tools, workload.acting
    held = tools or acting
    if held is None or not instances:
        return None, []
    if acting is not None and (acting.kind == "robot" or acting.runs_on == "gpu"):
        return None, []
    found, more = machines.cpu("environment", held.vcpus, bytes_to_gib(held.memory_bytes), instances, *place)
    if found is None:
        raise MissingFactError("the price of CPU machines", "the environment", "give costs.vcpu_hour")
    return found, more


def scorer_machines(
    book: CpuBook, scorers: Sequence[CpuScorers | None], provider: str, region: str | None
) -> tuple[list[CpuPool | None], list[str]]:
    """Machines for each of ``scorers`` and what is to be said of their prices; none at all where nothing scores so.

    Raises
    ------
    MissingFactError
        Where no CPU machine has a known price.
    """
    found: list[CpuPool | None] = []
    notes: list[str] = []
    for one in scorers if any(scorers) else ():
        if one is None:
            found.append(None)
            continue
        gib = bytes_to_gib(one.memory_bytes)
        machines, more = book.cpu(SCORERS, one.vcpus, gib, one.processes, provider, region)
        if machines is None:
            raise MissingFactError("the price of CPU machines", "scoring without GPUs", "give costs.vcpu_hour")
        found.append(machines)
        notes += [note for note in more if note not in notes]
    return found, notes
