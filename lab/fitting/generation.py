"""What generation is fitted on, and which of its constants: shares by GPU generation, engines, measured effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.fitting.prior import Prior
from lab.fitting.published import dropped, published, source_weights
from rlopt.estimates import Calibration
from rlopt.estimates.codes import GENERATIONS
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study
from rlopt.fitting.observations import of_generation
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.sampling.rows import NAMES, Cases, cases

ROOM = "generation"
FILES = ("generation.csv", "generation_latency_derived.csv")
MEASURED = "output_tokens_per_s_total"


SHARES: Mapping[str, Prior] = {
    "weight_bandwidth": Prior(0.67, 0.3, 0.95, 0.12),
    "kv_bandwidth": Prior(0.67, 0.2, 0.95, 0.15),
    "flops_16": Prior(0.61, 0.2, 0.75, 0.2),
    "flops_8": Prior(0.51, 0.2, 0.92, 0.2),
    "flops_4": Prior(0.42, 0.1, 0.92, 0.25),
    "moe_bandwidth": Prior(0.70, 0.2, 0.95, 0.2),
    "moe_flops": Prior(0.33, 0.05, 0.9, 0.3),
    "launch_factor": Prior(1.0, 0.4, 2.5, 0.2),
    "allreduce_a_s": Prior(7.2e-7, 1.0e-7, 5.0e-6, 0.4),
}
"""By GPU generation. Centres: kernels measured alone reach 0.58-0.64 of the bandwidth reading weights, 0.6-0.75
reading the cache, and 0.3 of the peak in grouped GEMMs."""
ENGINES: Mapping[str, Prior] = {
    "device_factor": Prior(0.95, 0.5, 3.0, 0.25),
    "kv_factor": Prior(0.9, 0.3, 30.0, 0.4),
    "group_factor": Prior(0.02, 0.001, 1.0, 1.0),
    "flops_factor": Prior(1.0, 0.5, 3.0, 0.25),
    "moe_factor": Prior(1.0, 0.4, 4.0, 0.3),
    "prefill_factor": Prior(1.15, 0.4, 4.0, 0.35),
    "step_s": Prior(1.0e-3, 2.0e-5, 2.0e-2, 0.8),
    "layer_s": Prior(4.5e-5, 5.0e-6, 2.0e-3, 0.7),
    "sequence_s": Prior(2.0e-5, 5.0e-7, 2.0e-3, 1.0),
    "request_s": Prior(8.0e-4, 1.0e-5, 2.0e-2, 1.0),
    "allreduce_factor": Prior(1.2, 0.3, 8.0, 0.4),
    "dispatch_pause_factor": Prior(1.0, 0.2, 20.0, 0.6),
    "routing_spread": Prior(0.9, 0.02, 1.0, 0.3),
    "moe_prefill_factor": Prior(1.0, 0.3, 5.0, 0.3),
    "memory_share": Prior(0.92, 0.8, 0.99, 0.03),
    "workspace_gib": Prior(3.2, 0.5, 12.0, 0.4),
}
"""By engine."""
ALL: Mapping[str, Prior] = {
    "layer_moe": Prior(0.87, 0.1, 4.0, 0.4),
    "layer_mla": Prior(0.41, 0.05, 4.0, 0.5),
    "activation_bytes": Prior(48.0, 8.0, 150.0, 0.5),
    "prefill_attention": Prior(0.5, 0.15, 0.95, 0.3),
    "link_share": Prior(0.8, 0.3, 0.95, 0.2),
    "pcie_gb_s": Prior(17.6, 8.0, 30.0, 0.2),
    "cross_node_share": Prior(0.2, 0.02, 0.9, 0.5),
    "allreduce_pcie_a_s": Prior(2.2e-6, 5.0e-7, 2.0e-5, 0.4),
    "dispatch_inside_s": Prior(4.9e-5, 5.0e-6, 5.0e-4, 0.5),
    "dispatch_outside_s": Prior(8.3e-5, 5.0e-6, 1.0e-3, 0.5),
    "dispatch_factor": Prior(3.7, 0.5, 12.0, 0.4),
    "block_scale_factor": Prior(0.95, 0.6, 2.0, 0.2),
    "weight_only_factor": Prior(1.15, 0.7, 3.0, 0.3),
    "weight_only_expert_factor": Prior(1.5, 0.7, 4.0, 0.3),
    "sparse_share": Prior(0.1, 0.01, 1.0, 0.8),
    "kv_reserve": Prior(0.84, 0.5, 1.0, 0.1),
    "expert_lumps": Prior(0.5, 0.02, 1.5, 0.7),
}
"""One for all."""
LIKE: Mapping[str, str] = {
    "trt-llm-main": "trt-llm",
    "trt-llm-server": "trt-llm",
    "trt-llm-static": "trt-llm",
    "trt-llm-2024": "trt-llm",
    "mlperf-nvidia": "trt-llm",
    "lmdeploy": "trt-llm-2024",
    "vllm-2024": "vllm",
    "vllm-rocm": "vllm",
    "vllm-rocm-2024": "vllm-2024",
    "vllm-cdna2-2024": "vllm-rocm-2024",
    "mlperf-amd": "vllm-rocm",
    "sglang": "vllm",
    "deepspeed": "vllm-2024",
}
"""Engines whose constants are centred on another's: the same kernels, or the same design."""
CLOSER = 0.7
"""Their priors are narrower by this factor."""
EFFECTS: Mapping[str, Prior] = {"device": Prior(1.0, 0.6, 1.8, 0.12), "model": Prior(1.0, 0.6, 1.8, 0.15)}
"""Factors on device time."""
PAIRS: Mapping[str, Prior] = {
    "generation": Prior(1.0, 0.6, 1.8, 0.15),
    "model": Prior(1.0, 0.5, 2.5, 0.10),
    "format": Prior(1.0, 0.4, 4.0, 0.12),
    "version": Prior(1.0, 0.5, 2.5, 0.12),
}
"""Factors on device time of an engine together with something else."""
LOOSER: Mapping[str, float] = {"transformers": 4.0}
"""Engines whose pairs are held less: unpacking weights in plain PyTorch costs from nothing to ten times."""


def measured_rows() -> list[MeasuredRow]:
    """Every generation row of the shipped measurements."""
    return [row.asking(MEASURED) for name in FILES for row in published(name)]


def study(catalog: Catalog, calibration: Calibration) -> Study:
    """The rows that fits see, the constants in play, and which rows each touches."""
    rows = [row for row in measured_rows() if row.id not in dropped(ROOM) and (row.number(MEASURED) or 0.0) > 0.0]
    read = cases(rows, catalog, calibration)
    found = of_generation(rows, read, calibration)
    parameters, touches = _parameters(read, calibration)
    return replace(found, weights=source_weights(found.labels["source"]), parameters=parameters, touches=touches)


def _parameters(
    read: Cases, calibration: Calibration
) -> tuple[tuple[Parameter, ...], Mapping[tuple[str, ...], NDArray[np.bool_]]]:
    found: list[Parameter] = []
    touches: dict[tuple[str, ...], NDArray[np.bool_]] = {}

    def add(prior: Prior, rows: NDArray[np.bool_], *path: str, toward: tuple[str, ...] | None = None) -> None:
        sd = prior.sd * (CLOSER if toward else 1.0)
        found.append(Parameter((ROOM, *path), prior.centre, prior.low, prior.high, sd, toward))
        touches[(ROOM, *path)] = rows

    assert read.hardware is not None
    engine = np.array(read.engine)
    keys = {kind: np.array([names[place] for names in read.names]) for place, kind in enumerate(NAMES)}
    keys["generation"] = np.array(GENERATIONS)[read.hardware.generation]
    for key, prior in SHARES.items():
        for name in GENERATIONS:
            add(prior, keys["generation"] == name, key, name)
    for key, prior in ENGINES.items():
        for name in calibration.generation["engines"]:
            toward = (ROOM, "engines", LIKE[name], key) if name in LIKE else None
            add(prior, engine == name, "engines", name, key, toward=toward)
    for key, prior in ALL.items():
        add(prior, np.ones(len(engine), dtype=bool), key)
    effects = calibration.generation["effects"]
    for kind, prior in EFFECTS.items():
        for name in effects[kind]:
            add(prior, keys[kind] == name, "effects", kind, name)
    for kind, prior in PAIRS.items():
        for name, by in effects[f"engine_{kind}"].items():
            for one in by:
                held = replace(prior, sd=prior.sd * LOOSER.get(name, 1.0))
                add(held, (engine == name) & (keys[kind] == one), "effects", f"engine_{kind}", name, one)
    return tuple(found), touches
