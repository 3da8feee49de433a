"""Bytes of gradients that a training pool sends in one optimizer step, by the rings that `communication` times.

A ring over r ranks scatters p gradients of 2 bytes: each GPU sends 2 p (r - 1) / r bytes. Full copies on each rank
(ddp) are reduced and sent back, twice that; where the optimizer is sharded weights come back, which are no gradients.
Sharded gradients (zero2, zero3) are scattered after each micro-batch, others once. Experts have a ring of their own.
Of the ranks that stand on one node, one sends to the next node.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Layout, Training
from rlopt.estimates.communication import VALUE
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.states import adapter_shards, shards
from rlopt.words import ZERO1, ZERO2

THERE_AND_BACK = 2.0
"""An all-reduce scatters, then gathers what was reduced."""


def gradient_bytes(
    shape: ModelShape, training: Training, hardware: Hardware, layout: Layout, micro_batches: Floats
) -> tuple[Floats, Floats]:
    """Bytes that one node's GPUs send in one optimizer step, and those of them that leave the node; shape (n,).

    ``micro_batches``: of each data-parallel rank.
    """
    lora = training.lora is not False
    counts = adapter_shards(shape, training, layout) if lora else shards(shape, layout)
    share = 1.0 if lora else np.asarray(training.trainable_share, dtype=np.float64)
    often = np.where(layout.sharding >= ZERO2, micro_batches, 1.0)
    often = often * np.where(layout.sharding >= ZERO1, 1.0, THERE_AND_BACK)
    here = np.minimum(np.asarray(layout.gpus, dtype=np.float64), hardware.gpus_per_node)
    tp = np.asarray(layout.tp, dtype=np.float64)
    rings = (
        (counts.dense, counts.ranks, tp),
        (counts.experts, counts.expert_ranks, np.asarray(layout.ep * layout.etp, dtype=np.float64)),
    )
    sent, leaving = np.zeros(np.shape(here)), np.zeros(np.shape(here))
    for params, ranks, stride in rings:
        moved = here * VALUE * share * params * (ranks - 1.0) / ranks * often
        together = np.maximum(np.floor(hardware.gpus_per_node / stride), 1.0)
        sent = sent + moved
        leaving = leaving + np.where(ranks * stride > hardware.gpus_per_node, moved / np.minimum(ranks, together), 0.0)
    return sent, leaving
