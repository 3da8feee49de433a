"""Seconds of routed experts: grouped GEMMs, permutation, all-to-alls, and the launches around them."""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Values
from rlopt.estimates.communication import expert_parallel_s
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.worker import Worker

BLOCK = 128
"""Rows and columns that grouped GEMMs of low precision tile."""


def experts_s(
    worker: Worker, hardware: Hardware, passes: Passes, count: Floats, ceiling: tuple[Floats, Values], hbm: Floats
) -> Floats:
    """One layer's routed experts, averaged over all layers; 0 for a dense model. Shape (n,).

    ``count`` tokens of a micro-batch per rank run under `compute.gemm_ceiling`, and move at ``hbm`` bytes/s. A grouped
    GEMM saturates with the tokens of one local expert, those of etp · ep ranks spread over the experts that ep leaves,
    and with its narrower side.
    """
    shape, layout, calibration = worker.shape, worker.layout, worker.calibration

    def constant(name: str) -> float:
        return calibration.value("training", name)

    def of_engine(name: str) -> Floats:
        return calibration.by_engine("training", name, worker.stack.engine)

    local = count / layout.tp
    peak, later = ceiling
    per_expert = local * (layout.etp * layout.ep) * (shape.active_experts / np.maximum(shape.experts, 1))
    wide = np.minimum(shape.hidden, shape.expert_ffn / layout.etp)
    rate = peak * of_engine("expert_factor")
    ragged = np.greater(later, 1.0) & (np.asarray(shape.hidden) % BLOCK != 0)
    if np.any(ragged):
        rate = rate * np.where(ragged, constant("ragged_factor"), 1.0)
    rate = rate * (per_expert / (per_expert + later * constant("half_expert_tokens")))
    rate = rate * (wide / (wide + later * constant("half_width")))
    layers = np.maximum(shape.moe_layers, 1)
    seconds = local * (2.0 * shape.experts_active / layers) * passes.gemm / np.where(shape.moe, rate, 1.0)
    moved = constant("permute_bytes") / 3.0 * shape.active_experts * (shape.hidden + shape.expert_ffn)
    seconds = seconds + local * moved * passes.traffic / hbm
    calls = 2.0 * np.asarray(passes.collective)
    seconds = seconds + expert_parallel_s(
        hardware, layout, shape.hidden, shape.active_experts, local, calls, calibration
    )
    seconds = seconds + of_engine("moe_overhead_s") * passes.gemm
    return np.asarray(np.where(shape.moe, shape.moe_layers / shape.layers * seconds, 0.0))
