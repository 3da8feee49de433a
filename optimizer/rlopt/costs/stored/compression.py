"""Compression of stored bytes: fewer of them are kept and moved, and vCPU seconds are paid to write and to read them.

USD = vCPU seconds per GiB / 3600 · (GiB written + GiB read) · USD per vCPU hour

What moves to another tier moves as it is. A vCPU hour costs `costs.vcpu_hour`, or what the zone's cheapest machine
without GPUs does; where no price is known nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from rlopt.costs.stored.tiers import Stay, Values
from rlopt.costs.text_log import FILES
from rlopt.problem import Floats, Ints, Problem
from rlopt.problem.tariff import Tariff
from rlopt.request import Squeeze
from rlopt.units import GIB, GIGA, SECONDS_PER_HOUR

KINDS: Final[Mapping[str, str]] = {
    "trajectories": "trajectories",
    "stored log-probabilities": "intermediates",
    **dict.fromkeys(FILES, "logs"),
}
"""Items of the bill that may be compressed, each with its key."""


def compression_of(problem: Problem, item: str) -> Squeeze | None:
    """What compressing an item brings and takes; None where the request leaves it out."""
    found: Squeeze | None = getattr(problem.request.job.compression, KINDS[item]) if item in KINDS else None
    return found


def compressed_stay(stay: Stay, ratio: float) -> Stay:
    """The same bytes compressed; as many files."""
    names = ("gb", "written_gb", "read_gb", "later_gb", "brief_gb")
    return replace(stay, **{name: getattr(stay, name) * ratio for name in names})


def vcpu_hours(stay: Stay, compression: Squeeze) -> Values:
    """VCPU hours to write and read all of ``stay``, which is not compressed yet."""
    gib = (stay.written_gb + stay.read_gb + stay.later_gb) * (GIGA / GIB)
    return gib * compression.vcpu_seconds_per_gib / SECONDS_PER_HOUR


def vcpu_usd_per_hour(tariff: Tariff) -> float:
    """USD of a vCPU hour; infinite where none is known."""
    return np.inf if tariff.vcpu is None else tariff.vcpu.usd_per_hour


def cpu_usd(problem: Problem, zone: Ints, stay: Stay, compression: Squeeze) -> Floats:
    """USD of compressing ``stay`` by column; infinite where no price is known."""
    price = np.array([vcpu_usd_per_hour(tariff) for tariff in problem.tariffs])[zone]
    hours = np.broadcast_to(np.asarray(vcpu_hours(stay, compression), dtype=np.float64), price.shape)
    return np.where(np.isfinite(price), np.where(np.isfinite(price), price, 0.0) * hours, np.inf)
