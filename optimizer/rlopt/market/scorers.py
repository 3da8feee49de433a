"""Machines without GPUs that score: the cheapest that hold a reward model's processes, by way to run the job."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.errors import MissingFactError
from rlopt.market.cpu_book import CpuBook
from rlopt.problem.tariff import CpuPool
from rlopt.units import bytes_to_gib
from rlopt.workloads.cpu_scoring import CpuScorers

SCORERS = "scorers"
"""Name of the pool."""


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
