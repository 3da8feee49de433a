"""GPU types: memory, speed, links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rlopt.words import Precision

#: Number formats that a device is rated in: those of plans, and tf32.
PRECISIONS: tuple[str, ...] = (Precision.FP32, "tf32", *tuple(Precision)[1:])

GENERATIONS = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "CDNA")


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU type.

    Parameters
    ----------
    name, family
        ``H100-SXM`` of family ``H100``; a request that names a family means all its forms.
    generation
        ``Volta``, ``Turing``, ``Ampere``, ``Ada``, ``Hopper``, ``Blackwell`` or ``CDNA``.
    memory_gib
        Usable memory, GiB.
    bandwidth_gb_s
        Memory bandwidth, GB/s (1e9 bytes).
    tflops
        Dense peak by precision, TFLOP/s (TOP/s for int8); an absent entry is unknown or not supported.
    link_gb_s
        One-way GPU-to-GPU link (NVLink, xGMI) per GPU, GB/s; 0 = none, ``None`` = unknown.
    pcie_gen, power_w
        ``None`` where not found.
    """

    name: str
    family: str
    generation: str
    memory_gib: float
    bandwidth_gb_s: float
    tflops: Mapping[str, float]
    link_gb_s: float | None
    link_type: str
    pcie_gen: int | None
    power_w: float | None
    source: str
    notes: str
