"""Rollout engines: which there are, and what their weights leave for the cache.

Engines serve the policy, with its action expert where it acts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Hardware, kv_gib_per_token, kv_room_gib, rollout_other_gib, rollout_weights_gib
from rlopt.estimates.roles import POLICY
from rlopt.pools.context import Context, margin
from rlopt.problem import Floats, Ints
from rlopt.units import bytes_to_gib
from rlopt.words import LOW_PRECISIONS, StageKind


@dataclass(frozen=True, slots=True)
class Engine:
    """Rollout engines, shape (rows,): replicas of max(tp, ep) GPUs out of ``gpus``.

    Parameters
    ----------
    hardware
        One row each.
    resident_gib
        Training state that stays on the same GPUs.
    colocated
        Whether the pool also trains.
    """

    hardware: Hardware
    tp: Ints
    ep: Ints
    gpus: Ints
    precision: str
    resident_gib: Floats | float = 0.0
    colocated: bool = False

    @property
    def low(self) -> bool:
        """Whether it serves in less than 16 bits."""
        return self.precision in LOW_PRECISIONS


def weights_gib(context: Context, engine: Engine) -> Floats:
    """Weights on each GPU: the policy's, those of the expert that acts for it, and of what screens beside them."""
    held = [
        rollout_weights_gib(context.shapes[role], engine.precision, engine.tp, engine.ep, context.calibration)
        for role in POLICY
        if role in context.shapes
    ]
    held += [
        rollout_weights_gib(context.shapes[role], context.screened_in, engine.tp, engine.ep, context.calibration)
        for role in {stage.role for stage in context.workload.screening} - set(POLICY)
    ]
    return np.asarray(np.sum(held, axis=0))


def room_gib(context: Context, engine: Engine) -> Floats:
    """Cache room per GPU: within the engine's share of the memory and within what is left of the pool's capacity."""
    memory, resident = engine.hardware.memory_gib, engine.resident_gib
    weights = weights_gib(context, engine)
    given = kv_room_gib(memory, weights, resident, engine.colocated, context.calibration)
    capacity = memory * (1.0 - margin(context))
    fragmentation = 1.0 + float(context.calibration.memory["fragmentation"])
    left = capacity - (weights + resident) * fragmentation - rollout_other_gib(context.calibration)
    return np.asarray(np.minimum(given, left))


def worlds_gib(context: Context, engine: Engine, instances: int) -> Floats:
    """Simulators on each GPU of the pool, GiB; 0 where they run elsewhere. A mixed pool has room for all of them."""
    acting = context.workload.acting
    if acting is None or acting.runs_on != "gpu":
        return np.zeros(len(engine.tp))
    return np.asarray(bytes_to_gib(acting.memory_bytes) * instances / engine.gpus)


def cache_gib(context: Context, engine: Engine, running: Floats) -> Floats:
    """Keys and values on each GPU of what a replica runs at once, each at its longest."""
    groups = np.maximum(engine.tp, engine.ep) / engine.tp
    longest = context.workload.of_kind(StageKind.SAMPLE)[0].lengths.longest
    return np.asarray(running / groups * kv_gib_per_token(context.shapes["policy"], engine.tp) * longest)
