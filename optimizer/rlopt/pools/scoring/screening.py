"""The value model beside an engine: it scores what the engine samples before anything is stored or sent.

It stands in whole replicas on the engine's own tensor parallelism. Its micro-batch is the one with which sampling and
screening together take least: a larger one is quicker and leaves less room for the engine's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.training.memory import forward_parts
from rlopt.estimates.training.scoring import scoring_layout
from rlopt.pools.context import Context
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.scoring.table import MICRO_BATCHES, layout_of
from rlopt.pools.training.seconds import forward_times
from rlopt.problem import Floats


@dataclass(frozen=True, slots=True)
class Screening:
    """Screening of one step's samples, shape (rows,): seconds, and GiB per GPU beside weights."""

    seconds: Floats
    gib: Floats


def screening_ways(context: Context, engine: Engine, group_size: int, share: Floats | float) -> list[Screening]:
    """Screening of ``share`` of a step's samples by micro-batch; nothing where nothing is screened apart."""
    loose, precision = 1.0 + float(context.calibration.memory["fragmentation"]), context.screened_in
    found = []
    for count in MICRO_BATCHES if context.workload.screening else ():
        layout = scoring_layout(engine.tp, engine.gpus // engine.tp, count, engine.ep)
        seconds, gib = np.zeros(len(engine.tp)), np.zeros(len(engine.tp))
        for stage in context.workload.screening:
            shape, sequences = context.shapes[stage.role], context.sequences(stage, group_size)
            at = layout_of(shape, layout)
            parts = forward_parts(context.worker(stage.role, at, precision), context.tokens(stage))
            seconds += share * forward_times(context, engine.hardware, at, stage, sequences, precision)
            gib = np.maximum(gib, loose * (parts.activations + parts.logits))
        found.append(Screening(seconds, gib))
    return found
