"""The arrays that every estimate takes: hardware, layouts, lengths and what is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rlopt.facts import Device
from rlopt.units import gbps_to_gb_s

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GENERATIONS = ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell", "CDNA")
SHARDING = ("ddp", "zero1", "zero2", "zero3")
RECOMPUTE = ("none", "selective", "full")
OFFLOAD = ("none", "optimizer", "parameters")
PRECISIONS = ("fp32", "bf16", "fp16", "fp8", "int8", "fp4", "int4")
BYTES = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5, "int4": 0.5}
PCIE_GB_S = {3: 12.0, 4: 24.0, 5: 48.0, 6: 96.0}
"""Usable one-way rate of a x16 slot by generation: 128b/130b coding and headers off the nominal 16, 32, 64, 128."""
OLDEST_PCIE = 3


@dataclass(frozen=True, slots=True)
class Hardware:
    """One row per machine kind, shape (n,). Rates in GB/s (1e9 bytes), memory in GiB per GPU.

    ``link_gb_s`` is the one-way rate between GPUs of a node; ``node_gb_s`` the network rate per GPU leaving the node,
    0 where there is none or it is unknown. ``tflops`` is NaN where a peak is unknown.
    """

    memory_gib: Floats
    hbm_gb_s: Floats
    link_gb_s: Floats
    node_gb_s: Floats
    pcie_gb_s: Floats
    gpus_per_node: Floats
    generation: Ints
    nvlink: NDArray[np.bool_]
    tflops: Mapping[str, Floats]

    @staticmethod
    def of(rows: Sequence[tuple[Device, int, str, float | None]]) -> Hardware:
        """From (device, GPUs per node, intra-node link, network Gb/s of a node or None)."""
        pcie = [PCIE_GB_S.get(device.pcie_gen or OLDEST_PCIE, PCIE_GB_S[OLDEST_PCIE]) for device, *_ in rows]
        nvlink = [intra in ("nvlink", "nvswitch", "nvl72") and bool(device.link_gb_s) for device, _, intra, _ in rows]
        return Hardware(
            memory_gib=np.array([device.memory_gib for device, *_ in rows], dtype=float),
            hbm_gb_s=np.array([device.bandwidth_gb_s for device, *_ in rows], dtype=float),
            link_gb_s=np.array([(device.link_gb_s or 0.0) if fast else slow
                                for (device, *_), fast, slow in zip(rows, nvlink, pcie, strict=True)], dtype=float),
            node_gb_s=np.array([gbps_to_gb_s(gbps or 0.0) / gpus for _, gpus, _, gbps in rows], dtype=float),
            pcie_gb_s=np.array(pcie, dtype=float),
            gpus_per_node=np.array([gpus for _, gpus, *_ in rows], dtype=float),
            generation=np.array([GENERATIONS.index(device.generation) for device, *_ in rows], dtype=np.int64),
            nvlink=np.array(nvlink, dtype=bool),
            tflops={name: np.array([device.tflops.get(name, np.nan) for device, *_ in rows], dtype=float)
                    for name in PRECISIONS},
        )

    def take(self, index: Any) -> Hardware:
        """The rows of ``index``."""
        plain = {f.name: getattr(self, f.name)[index] for f in fields(self) if f.name != "tflops"}
        return Hardware(**plain, tflops={name: values[index] for name, values in self.tflops.items()})

    def peak(self, precision: str) -> Floats:
        """FLOP/s of GEMMs at ``precision``; a device without bf16 tensor cores trains in fp16; weight-only
        precisions without a peak of their own compute at the 16-bit one."""
        sixteen = np.where(np.isnan(self.tflops["bf16"]), self.tflops["fp16"], self.tflops["bf16"])
        if precision in ("bf16", "fp16"):
            return sixteen * 1e12
        own = self.tflops[precision]
        if precision in ("int4", "int8", "fp4"):
            own = np.where(np.isnan(own), sixteen, own)
        return own * 1e12


@dataclass(frozen=True, slots=True)
class Layout:
    """Parallel layouts, shape (n,) each; codes index SHARDING, RECOMPUTE and OFFLOAD. gpus = tp · pp · cp · dp."""

    tp: Ints
    pp: Ints
    vp: Ints
    dp: Ints
    cp: Ints
    ep: Ints
    etp: Ints
    sharding: Ints
    micro_batch: Ints
    recompute: Ints
    offload: Ints

    @property
    def gpus(self) -> Ints:
        """GPUs of the pool; ep is carved out of dp · cp · tp and is no factor."""
        return self.tp * self.pp * self.cp * self.dp

    def take(self, index: Any) -> Layout:
        """The rows of ``index``."""
        return Layout(*(getattr(self, f.name)[index] for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one sequence as a stage meets it; ``squared`` is the mean of the squared length.

    Packed sequences fill a micro-batch with real tokens; padded ones cost ``longest`` each.
    """

    mean: float
    longest: float
    squared: float
    packed: bool

    @staticmethod
    def of(prompt_mean: float, prompt_max: float, response_mean: float, response_max: float, packed: bool,
           cv: float = 0.8) -> Tokens:
        """From prompt and response lengths; each spreads with coefficient of variation ``cv``, cut at its maximum."""
        spread = sum((cv * mean) ** 2 for mean, most in ((prompt_mean, prompt_max), (response_mean, response_max))
                     if most > mean)
        longest = prompt_max + response_max
        squared = min((prompt_mean + response_mean) ** 2 + spread, longest**2)
        return Tokens(prompt_mean + response_mean, longest, squared, packed)

    @property
    def counted(self) -> float:
        """Tokens that one sequence costs in training and scoring."""
        return self.mean if self.packed else self.longest

    @property
    def attended(self) -> float:
        """Mean attended length per token: E[s^2] / E[s]."""
        return self.squared / self.mean if self.packed else self.longest


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained of a model, and in which state."""

    kind: Literal["full", "lora"]
    lora_rank: int = 0
    base_bytes: float = 2.0
    optimizer: str = "adamw"
    trainable_share: float = 1.0
    in_loop: bool = False
    """Whether the update stands in a sampling loop, whose stacks keep gradients in other precisions."""
