"""What a plan says of sampling: memory by part and seconds by stage of one engine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates import Hardware, rollout_other_gib
from rlopt.pools.context import FALLBACK, Context
from rlopt.pools.limiting import ENVIRONMENT, TAIL, limits
from rlopt.pools.sampling.engine import Engine, cache_gib, room_gib, weights_gib, worlds_gib
from rlopt.pools.sampling.seconds import Demand, Sampled, sample, tools_seconds, with_tools
from rlopt.pools.training.memory import PARTS
from rlopt.problem.detail import StageDetail
from rlopt.words import StageKind

SCREENING = "screening"
"""What plans call the scoring of samples before they are stored."""
ROUNDING = 1e-9
"""A cache that fills the room ends a hair below it, so that parts added up in another order still fit."""


@dataclass(frozen=True, slots=True)
class EngineDetail:
    """Memory of the sampling stage by part, GiB per GPU, and its stages."""

    parts: dict[str, float]
    stages: tuple[StageDetail, ...]


def engine_detail(
    context: Context, engine: Engine, size: int, environment: int, asynchronous: bool = False, share: float = 1.0
) -> EngineDetail:
    """One engine (one row) in full. ``environment``: place of the number of environment instances.

    Where steps fall back to 16 bits, memory is that of the fuller of the two precisions.
    """
    demand = Demand(size, asynchronous, share, context.instances[environment])
    time = sample(context, engine, demand)
    parts = _parts(context, engine, time, demand.instances)
    if context.falls_back(engine.precision):
        high = replace(engine, precision=FALLBACK)
        running = sample(context, high, demand)
        parts = max(parts, _parts(context, high, running, demand.instances), key=lambda held: sum(held.values()))
    return EngineDetail(parts, tuple(_stages(context, time, demand, _limited_by(context, engine, time, demand))))


def _whole_s(context: Context, time: Sampled, demand: Demand) -> float:
    """Seconds with the tools that sampling waits for."""
    tooled = with_tools(context, time.total, demand.group_size, demand.instances, demand.asynchronous)
    return float(tooled[0])


def _limited_by(context: Context, engine: Engine, time: Sampled, demand: Demand) -> str:
    """What limits sampling: a resource of the machines, the environment, or the longest of the responses."""

    def sampling(machine: Hardware) -> list[float]:
        return [_whole_s(context, sample(context, replace(engine, hardware=machine), demand), demand)]

    whole = _whole_s(context, time, demand)
    waits = {ENVIRONMENT: whole - float(time.total[0]) + float(time.world_seconds[0])}
    if context.workload.acting is None and not demand.asynchronous:
        waits[TAIL] = float(time.seconds[0]) * (1.0 - float(time.utilization[0]))
    return limits(sampling, engine.hardware, waits)[0]


def _parts(context: Context, engine: Engine, time: Sampled, instances: int) -> dict[str, float]:
    """GiB per GPU by part, training state apart."""
    weights = float(weights_gib(context, engine)[0])
    worlds = float(worlds_gib(context, engine, instances)[0])
    screening = float(np.max(time.screening_gib))
    room = (float(room_gib(context, engine)[0]) - worlds - screening) * (1.0 - ROUNDING)
    fragmentation = float(context.calibration.memory["fragmentation"])
    return dict.fromkeys(PARTS, 0.0) | {
        "weights": weights,
        "kv_cache": min(float(cache_gib(context, engine, time.running)[0]), room),
        "activations": screening,
        "buffers": weights * fragmentation + worlds,
        "runtime": rollout_other_gib(context.calibration),
    }


def _stages(context: Context, time: Sampled, demand: Demand, limited_by: str) -> list[StageDetail]:
    """Sampling with the tools or worlds that it waits for, those themselves, and what is evaluated."""
    evaluation, screening = float(time.evaluation_seconds[0]), float(np.max(time.screening_seconds))
    everything = _whole_s(context, time, demand) - screening
    found = [StageDetail(StageKind.SAMPLE, "policy", everything - evaluation, float(time.utilization[0]), limited_by)]
    if screening > 0.0:
        found.append(StageDetail(SCREENING, "value", screening, None))
    if evaluation > 0.0:
        found.append(StageDetail("evaluation", "policy", evaluation, None))
    if context.workload.tools is not None:
        found.append(
            StageDetail(
                StageKind.ENVIRONMENT, "policy", tools_seconds(context, demand.group_size, demand.instances), None
            )
        )
    elif context.workload.acting is not None:
        found.append(StageDetail(StageKind.ENVIRONMENT, "policy", float(time.world_seconds[0]), None))
    return found
