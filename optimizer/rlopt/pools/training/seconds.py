"""Seconds of the stages of a pool that trains: updates, scoring passes and evaluations that only read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlopt.estimates import Hardware, Layout, forward_seconds, loop_factors, update_seconds
from rlopt.pools.context import FALLBACK, Context
from rlopt.pools.training.memory import role_layout
from rlopt.problem import Floats
from rlopt.words import StageKind
from rlopt.workloads import Lengths, Stage


def forward_times(
    context: Context, hardware: Hardware, layout: Layout, stage: Stage, sequences: float, precision: str
) -> Floats:
    """Seconds of one scoring pass over ``sequences``, inside the loop where the job samples; the layouts' shape.

    Steps that fall back to 16 bits take the seconds of those.
    """
    shape, at = context.shapes[stage.role], role_layout(context, stage.role, layout)

    def alone(name: str) -> Floats:
        return forward_seconds(context.worker(stage.role, at, name), hardware, context.tokens(stage), sequences)

    seconds = alone(precision)
    if context.falls_back(precision):
        share = context.workload.fallback_share
        seconds = (1.0 - share) * seconds + share * alone(FALLBACK)
    if not context.in_loop:
        return seconds
    return loop_factors(context.framework, hardware.generation, shape.moe, context.calibration)[1] * seconds


def update_times(
    context: Context, hardware: Hardware, layout: Layout, stage: Stage, sequences: float, precision: str
) -> Floats:
    """Seconds of one model's update on ``sequences``, inside the loop where the job samples; the layouts' shape."""
    shape, training = context.shapes[stage.role], context.trainings[stage.role]
    slower: Floats | float = 1.0
    if context.in_loop:
        slower = loop_factors(context.framework, hardware.generation, shape.moe, context.calibration)[0]
    worker = context.worker(stage.role, layout, precision, training)
    seconds = update_seconds(worker, hardware, context.tokens(stage), sequences, stage.updates, stage.epochs)
    return np.asarray(slower * seconds)


def spared_seconds(context: Context, hardware: Hardware, layout: Layout, group_size: int, precision: str) -> Floats:
    """Seconds of a step's updates on the samples that the filter drops; the layouts' shape."""
    total = np.zeros(len(layout.tp))
    for stage in context.workload.of_kind(StageKind.TRAIN):
        if stage.share < 1.0:
            kept = context.sequences(stage, group_size)
            whole = context.sequences(replace(stage, share=1.0), group_size)
            total += update_times(context, hardware, layout, stage, whole, precision)
            total -= update_times(context, hardware, layout, stage, kept, precision)
    return total


def stage_seconds(
    context: Context, hardware: Hardware, layout: Layout, group_size: int, update_precision: str, score_precision: str
) -> list[tuple[str, str, Floats]]:
    """(stage kind, role, seconds) of every training stage of one step; seconds have the layouts' shape."""
    found: list[tuple[str, str, Floats]] = []
    known: dict[tuple[int, str, float, Lengths], Floats] = {}
    stages = [stage for stage in context.workload.stages if stage.kind in (StageKind.SCORE, StageKind.TRAIN)]
    asked = context.workload.evaluation
    if asked is not None and asked.stage.kind == StageKind.SCORE:
        stages.append(asked.stage)
    for stage in stages:
        shape, sequences = context.shapes[stage.role], context.sequences(stage, group_size)
        if stage.kind == StageKind.TRAIN:
            found.append(
                (stage.kind, stage.role, update_times(context, hardware, layout, stage, sequences, update_precision))
            )
            continue
        if asked is not None and stage is asked.stage:
            once = forward_times(context, hardware, layout, stage, float(asked.samples), update_precision)
            found.append(("evaluation", stage.role, once / asked.every))
            continue
        precision = update_precision if stage.role in context.trainings else score_precision
        key = (id(shape), precision, sequences, stage.lengths)
        if key not in known:
            known[key] = forward_times(context, hardware, layout, stage, sequences, precision)
        found.append((stage.name or stage.kind, stage.role, known[key]))
    return found
