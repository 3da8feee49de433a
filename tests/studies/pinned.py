"""A published configuration put through the project's own estimates: hardware and layout given, nothing searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlopt import api
from rlopt.estimates import Layout, colocated_fixed_s, colocated_swap_s, disaggregated_fixed_s, step_seconds
from rlopt.pools.context import Context, make_context, margin
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.sampling.seconds import Demand, sample, with_tools
from rlopt.pools.training.memory import training_memory
from rlopt.pools.training.seconds import stage_seconds
from rlopt.problem import Market, Topology
from rlopt.reading.model_facts import resolve_models
from rlopt.words import ASYNC, COLOCATED, DISAGGREGATED
from rlopt.workloads import build_workload

PARAMETERS_OFF = 2
EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"


@dataclass(frozen=True)
class Pinned:
    """What was published: machines, layout of the training pool, degree and precision of the engine."""

    example: str
    device: str
    gpus: int
    node_gbps: float
    layout: dict[str, int]
    rollout_tp: int = 1
    rollout_gpus: int = 0
    rollout_precision: str = "bf16"
    placement: int = COLOCATED
    overrides: tuple[str, ...] = ()
    engine: str | None = None
    update_precision: str = "bf16"
    gpus_per_node: int = 8
    intra: str = "nvswitch"


@dataclass(frozen=True)
class Result:
    """Predicted seconds by stage, of the step, and GiB needed against capacity."""

    step: float
    stages: dict[str, float]
    needed: float
    capacity: float


def _context(pinned: Pinned) -> Context:
    request = api.load(next(EXAMPLES.glob(f"{pinned.example}-*.yaml")), pinned.overrides)
    catalog = api.catalog()
    workload = build_workload(request, resolve_models(request, catalog))
    topology = Topology(pinned.device, min(pinned.gpus_per_node, pinned.gpus), pinned.intra, pinned.node_gbps, True)
    empty_int, empty = np.zeros(0, dtype=np.int64), np.zeros(0)
    market = Market(
        (),
        empty,
        empty_int,
        empty_int,
        empty_int,
        empty_int.astype(bool),
        empty,
        empty_int,
        empty,
        empty,
        (),
        (topology,),
        {},
        (),
    )
    return make_context(request, catalog, workload, market, 4096, pinned.engine)


def predict(pinned: Pinned) -> Result:
    """Seconds and memory of the published configuration."""
    context = _context(pinned)
    hardware = context.hardware.take(np.zeros(1, dtype=np.int64))
    values = {
        "vp": 1,
        "cp": 1,
        "ep": 1,
        "etp": 1,
        "tp": 1,
        "pp": 1,
        "sharding": 1,
        "micro_batch": 1,
        "recompute": 0,
        "offload": 0,
    } | pinned.layout
    values["dp"] = pinned.gpus // (values["tp"] * values["pp"] * values["cp"])
    layout = Layout(**{name: np.array([value]) for name, value in values.items()})
    size = context.sizes[0]
    stages = stage_seconds(context, hardware, layout, size, pinned.update_precision, "bf16")
    memory = training_memory(context, layout, pinned.update_precision, "bf16")
    train = sum(float(seconds[0]) for _, _, seconds in stages)
    named = {f"{kind} {role}": float(seconds[0]) for kind, role, seconds in stages}
    needed = float(memory.peak()[0])
    capacity = float(hardware.memory_gib[0]) * (1 - margin(context))
    if not context.workload.generates:
        return Result(train, named, needed, capacity)
    resident = 0.0 if pinned.placement != COLOCATED else float(sum(v[0] for v in memory.resident.values()))
    gpus = np.array([pinned.rollout_gpus or pinned.gpus])
    tp = np.array([pinned.rollout_tp])
    engine = Engine(
        hardware, tp, np.ones_like(tp), gpus, pinned.rollout_precision, resident, pinned.placement == COLOCATED
    )
    time = sample(context, engine, Demand(size, pinned.placement == ASYNC)).seconds
    generate = float(with_tools(context, time, size, context.instances[0], pinned.placement == ASYNC)[0])
    named["generate"] = generate
    shape, calibration = context.shapes["policy"], context.calibration
    named["overhead"] = (colocated_fixed_s if pinned.placement == COLOCATED else disaggregated_fixed_s)(
        shape, calibration
    )
    if pinned.placement == COLOCATED:
        if values["offload"] == PARAMETERS_OFF:
            named["overhead"] += float(colocated_swap_s(shape, gpus.astype(float), calibration)[0])
        step = train + generate + named["overhead"]
    else:
        exposed, overlaps = float(calibration.rl["exposed_share"]), pinned.placement == ASYNC
        step = float(step_seconds(np.array([train]), np.array([generate]), named["overhead"], overlaps, exposed)[0])
    return Result(step, named, needed, capacity)


__all__ = ["ASYNC", "COLOCATED", "DISAGGREGATED", "Pinned", "Result", "predict"]
