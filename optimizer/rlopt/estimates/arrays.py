"""The arrays that every estimate takes: hardware, layouts and what is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates.codes import GENERATIONS, Flags, Floats, Ints, Values
from rlopt.estimates.lengths import Tokens
from rlopt.facts import Device
from rlopt.facts.calibration import Calibration
from rlopt.table import Table
from rlopt.units import TERA, gbps_to_gb_s
from rlopt.words import Precision

Words = NDArray[np.str_]
WEIGHT_ONLY = (Precision.INT8, Precision.INT4)
NVLINKS = ("nvlink", "nvswitch", "nvl72")
RACK = "nvl72"


@dataclass(frozen=True, slots=True)
class Hardware(Table):
    """One row per machine kind, shape (n,). Rates in GB/s (1e9 bytes), memory in GiB per GPU.

    Parameters
    ----------
    link_gb_s
        Nominal one-way rate between GPUs of a node: NVLink or xGMI, else the PCIe slot.
    node_gb_s
        Network rate per GPU leaving the node; 0 where there is none or it is unknown.
    pcie_gb_s
        Nominal one-way rate of a GPU's slot.
    gpus_per_node
        GPUs of one machine.
    generation
        Index into GENERATIONS.
    nvlink
        Whether `link_gb_s` is a GPU link and not the PCIe slot.
    tflops
        Dense peak by precision, TFLOP/s; NaN where unknown.
    domain
        GPUs that the fast link joins; ``None`` = those of a node. Larger than a node in a rack of 72.
    names, kind
        GPU types, and which of them each row is, for constants that differ by type; ``None`` = not known.
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
    domain: Floats | None = None
    names: tuple[str, ...] = ()
    kind: Ints | None = None

    @staticmethod
    def of(rows: Sequence[tuple[Device, int, str, float | None]], calibration: Calibration) -> Hardware:
        """From (device, GPUs per node, intra-node link, network Gb/s of a node or None)."""
        links = calibration.links
        slots = {int(generation): float(rate) for generation, rate in links["pcie_gb_s"].items()}
        oldest = min(slots)
        pcie = [slots[min(max(device.pcie_gen or oldest, oldest), max(slots))] for device, *_ in rows]
        fast = [intra in NVLINKS and bool(device.link_gb_s) for device, _, intra, _ in rows]
        return Hardware(
            memory_gib=np.array([device.memory_gib for device, *_ in rows], dtype=float),
            hbm_gb_s=np.array([device.bandwidth_gb_s for device, *_ in rows], dtype=float),
            link_gb_s=np.array(
                [
                    (device.link_gb_s or 0.0) if linked else slot
                    for (device, *_), linked, slot in zip(rows, fast, pcie, strict=True)
                ],
                dtype=float,
            ),
            node_gb_s=np.array([gbps_to_gb_s(gbps or 0.0) / gpus for _, gpus, _, gbps in rows], dtype=float),
            pcie_gb_s=np.array(pcie, dtype=float),
            gpus_per_node=np.array([gpus for _, gpus, *_ in rows], dtype=float),
            generation=np.array([GENERATIONS.index(device.generation) for device, *_ in rows], dtype=np.int64),
            nvlink=np.array(fast, dtype=bool),
            tflops={
                name: np.array([device.tflops.get(name, np.nan) for device, *_ in rows], dtype=float)
                for name in Precision
            },
            domain=np.array(
                [max(gpus, float(links["rack_gpus"])) if intra == RACK else gpus for _, gpus, intra, _ in rows],
                dtype=float,
            ),
            names=tuple(names := sorted({device.name for device, *_ in rows})),
            kind=np.array([names.index(device.name) for device, *_ in rows], dtype=np.int64),
        )

    def effect(self, table: Mapping[str, float]) -> Floats | float:
        """Each row's constant from a table by GPU type; 1 for a type that it does not name."""
        if self.kind is None:
            return 1.0
        return np.asarray(np.array([float(table.get(name, 1.0)) for name in self.names])[self.kind])

    @property
    def island(self) -> Floats:
        """GPUs that talk over ``link_gb_s``, at least a node."""
        return self.gpus_per_node if self.domain is None else self.domain

    def peak(self, precision: str | Words) -> Floats:
        """FLOP/s of GEMMs at ``precision`` (a name, or one a row), NaN where unknown.

        A device without bf16 tensor cores computes in fp16. int8 and int4 quantise weights only and compute
        at the 16-bit peak.
        """
        if not isinstance(precision, str):
            names, which = np.unique(precision, return_inverse=True)
            return np.asarray(np.stack([self.peak(str(name)) for name in names])[which, np.arange(len(which))])
        sixteen = np.where(np.isnan(self.tflops["bf16"]), self.tflops["fp16"], self.tflops["bf16"]) * TERA
        return sixteen if precision in (Precision.BF16, Precision.FP16, *WEIGHT_ONLY) else self.tflops[precision] * TERA


@dataclass(frozen=True, slots=True)
class Layout(Table):
    """Parallel layouts, shape (n,) each; codes of Sharding, Recompute and Offload.

    tp · pp · cp · dp GPUs.
    """

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


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained of a model, and in which state; each field one value, or one a row.

    Parameters
    ----------
    kind
        ``full``, ``lora`` (adapters on every linear layer) or ``frozen-part``.
    lora_rank, base_bytes
        Of adapters; bytes a frozen base weight takes (2, or 0.55 for int4 with its scales).
    optimizer
        ``adamw``, ``adamw_bf16`` (moments in bf16, no master), ``adamw_8bit`` (fp32 master, 1-byte moments) or
        another whose bytes stand in memory.yaml.
    trainable_share
        Share of the weights that are trained; below 1 the rest carry neither gradients nor optimizer state.
    in_loop
        Whether the update stands in a sampling loop, whose stacks keep gradients in other precisions.
    lora_targets
        Share of a layer's inputs that adapters read: 1 where all linear layers carry them.
    gemm_share, head_share
        Share of the layers' multiplied weights, and of the output matrix, whose gradients are computed; ``None`` =
        `trainable_share`.
    backward
        Whether gradients flow back through the layers: not where nothing in or below them is trained.
    frozen_bytes
        Bytes that a frozen weight takes; ``None`` = as many as a trained one.
    """

    kind: str | Words
    lora_rank: Values = 0
    base_bytes: Values = 2.0
    optimizer: str | Words = "adamw"
    trainable_share: Values = 1.0
    in_loop: Flags = False
    lora_targets: Values = 1.0
    gemm_share: Values | None = None
    head_share: Values | None = None
    backward: Flags = True
    frozen_bytes: Values | None = None

    @property
    def lora(self) -> Flags:
        """Whether adapters are trained beside a frozen base."""
        return self.kind == "lora"


@dataclass(frozen=True, slots=True)
class Stack:
    """How a training stack runs a model; each field one value, or one a row.

    Parameters
    ----------
    engine
        Family of constants, index into the calibration's engines.
    chunked_loss
        Logits are computed and reduced in pieces and never held whole.
    fused_attention
        Scores are never held whole (flash attention); without it each layer keeps heads · s² of them.
    sequence_parallel
        Norms and residuals are split over tp as well (Korthikanti et al., 2022, section 4.2.2).
    """

    engine: Ints
    chunked_loss: Flags = False
    fused_attention: Flags = True
    sequence_parallel: Flags = True


__all__ = [
    "GENERATIONS",
    "Flags",
    "Floats",
    "Hardware",
    "Ints",
    "Layout",
    "Stack",
    "Tokens",
    "Training",
    "Values",
    "Words",
]
