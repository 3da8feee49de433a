"""How often each kind of work of a micro-batch runs: once in a scoring pass, back and again in an update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Layout, Training, Values
from rlopt.words import FULL, SELECTIVE

GEMM_BACKWARD = 2.0
"""Backward GEMMs per forward one: gradients of the inputs and of the weights."""
ATTENTION_BACKWARD = 2.5
"""Flash attention's backward against its forward (Dao, 2023, section 4.1)."""


@dataclass(frozen=True, slots=True)
class Passes:
    """How often each kind of work runs per micro-batch, in forward passes; scalars or (n,)."""

    gemm: Values
    attention: Values
    traffic: Values
    collective: Values
    """Tensor-parallel pairs and all-to-all pairs of a layer, in units of a forward pass's two."""
    head: Values

    @staticmethod
    def of(training: Training | None, layout: Layout) -> Passes:
        """Of a scoring pass (None), or of forward, backward and what is recomputed."""
        if training is None:
            return Passes(1.0, 1.0, 1.0, 1.0, 1.0)
        full = np.asarray(layout.recompute == FULL, dtype=np.float64)
        again = np.asarray(layout.recompute >= SELECTIVE, dtype=np.float64)
        lora, trained = training.lora, training.trainable_share
        weights = trained if training.gemm_share is None else training.gemm_share
        head = weights if training.head_share is None else training.head_share
        if lora is not False:
            weights, head = np.where(lora, 0.0, weights), np.where(lora, 0.0, head)
        backward = 1.0 + (GEMM_BACKWARD - 1.0) * weights
        flows = 1.0 if training.backward is True else np.asarray(training.backward, dtype=np.float64)
        return Passes(
            1.0 + flows * (backward + full),
            1.0 + flows * (ATTENTION_BACKWARD + again),
            1.0 + flows * (2.0 + full),
            1.0 + flows * (1.0 + full),
            1.0 + flows + (GEMM_BACKWARD - 1.0) * head,
        )
