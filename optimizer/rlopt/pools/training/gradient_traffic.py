"""Gradients that a training pool sends in one step, all its trained models together."""

from __future__ import annotations

from rlopt.estimates import Hardware, Layout
from rlopt.estimates.training.gradients import gradient_bytes
from rlopt.estimates.training.update import micro_batches
from rlopt.pools.context import Context
from rlopt.units import bytes_to_gb
from rlopt.words import StageKind


def gradient_gb(context: Context, hardware: Hardware, layout: Layout, group_size: int) -> tuple[float, float]:
    """GB that one node's GPUs send in a step of one layout, and those of them that leave the node."""
    sent, leaving = 0.0, 0.0
    for stage in context.workload.of_kind(StageKind.TRAIN):
        shape, training = context.shapes[stage.role], context.trainings[stage.role]
        sequences = context.sequences(stage, group_size)
        count, _ = micro_batches(context.tokens(stage), sequences, stage.updates, layout)
        often = stage.updates * stage.epochs
        each, out = gradient_bytes(shape, training, hardware, layout, count)
        sent, leaving = sent + often * float(each[0]), leaving + often * float(out[0])
    return bytes_to_gb(sent), bytes_to_gb(leaving)
