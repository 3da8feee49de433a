"""What a plan says of a pool that trains, and where the job samples perhaps does so in turn."""

from __future__ import annotations

import numpy as np

from rlopt.estimates import Hardware, Layout, colocated_swap_s
from rlopt.estimates.training.gradients import gradient_bytes
from rlopt.estimates.training.update import micro_batches
from rlopt.pools.bands import band_of
from rlopt.pools.context import Context, margins
from rlopt.pools.limiting import limits
from rlopt.pools.rows import ColocatedRow, TrainingRow
from rlopt.pools.sampling.detail import EngineDetail, engine_detail
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.training.memory import PARTS, TrainingMemory, training_memory
from rlopt.pools.training.seconds import spared_seconds, stage_seconds
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Floats
from rlopt.problem.detail import PoolDetail, StageDetail
from rlopt.units import bytes_to_gb
from rlopt.words import PARAMETERS_OFF, Offload, Recompute, Sharding, StageKind

SHOWN = (StageKind.SAMPLE, StageKind.SCORE, StageKind.TRAIN)
"""Stages that are roles of a pool."""


def training_detail(
    context: Context, table: TrainingTable, entry: TrainingRow, colocated: ColocatedRow | None
) -> PoolDetail:
    """One row of a training table in full; ``colocated``: the engine that samples on the same pool."""
    at = slice(entry.row, entry.row + 1)
    layout, hardware = table.layout.take(at), context.hardware.take(table.topology[at])
    memory = training_memory(context, layout, entry.precision, table.score_precision)
    peaks = {stage.stage: {name: float(stage.parts[name][0]) for name in PARTS} for stage in memory.stages}

    def timed(machine: Hardware) -> list[tuple[str, str, Floats]]:
        return stage_seconds(context, machine, layout, entry.group_size, entry.precision, table.score_precision)

    limited = limits(lambda machine: [float(seconds[0]) for *_, seconds in timed(machine)], hardware)
    stages = [
        StageDetail(kind, role, float(seconds[0]), None, by)
        for (kind, role, seconds), by in zip(timed(hardware), limited, strict=True)
    ]
    if colocated is not None:
        found = _engine(context, layout, hardware, entry, colocated, memory)
        for parts in peaks.values():
            parts["runtime"] += context.asleep_gib
        peaks[StageKind.SAMPLE] = _beside(context, found.parts, memory)
        stages = [*found.stages, *stages, *_swap(context, layout)]
    peak = max(peaks, key=lambda name: sum(peaks[name].values()))
    host, free = float(table.host_gib[entry.row]), float(margins(context, layout)[0])
    return PoolDetail(
        roles=tuple(dict.fromkeys(stage.stage for stage in stages if stage.stage in SHOWN)),
        serves=tuple(dict.fromkeys(stage.model for stage in stages)),
        layout=layout_choice(layout, colocated),
        precision=entry.precision,
        score_precision=context.scored_in(entry.precision, table.score_precision),
        rollout_precision=colocated.rollout if colocated else None,
        needed_gib=sum(peaks[peak].values()),
        capacity_gib=float(hardware.memory_gib[0]) * (1.0 - free),
        host_gib=host or None,
        peak_stage=peak,
        parts=peaks[peak],
        stages=tuple(stages),
        memory_margin=free,
        by_stage=peaks,
        frozen_gib=float(memory.frozen[0]),
        spared_seconds=float(spared_seconds(context, hardware, layout, entry.group_size, entry.precision)[0]),
        gradient_gb=gradient_gb(context, hardware, layout, entry.group_size),
        **band_of(context, "training", hardware),
    )


def _engine(
    context: Context,
    layout: Layout,
    hardware: Hardware,
    entry: TrainingRow,
    colocated: ColocatedRow,
    memory: TrainingMemory,
) -> EngineDetail:
    """The engine beside what of the training state stays on the GPUs."""
    resident = sum(float(values[0]) for values in memory.resident.values())
    engine = Engine(
        hardware,
        np.array([colocated.tp]),
        np.array([colocated.ep]),
        np.asarray(layout.gpus),
        colocated.rollout,
        resident,
        colocated=True,
    )
    return engine_detail(context, engine, entry.group_size, colocated.environment)


def _beside(context: Context, parts: dict[str, float], memory: TrainingMemory) -> dict[str, float]:
    """The engine's memory with the training state beside it."""
    resident = {name: float(values[0]) for name, values in memory.resident.items()}
    fragmentation = float(context.calibration.memory["fragmentation"])
    joined = {name: parts[name] + resident[name] for name in ("weights", "optimizer")}
    return parts | joined | {"buffers": parts["buffers"] + sum(resident.values()) * fragmentation}


def _swap(context: Context, layout: Layout) -> tuple[StageDetail, ...]:
    """Training state that moves off the GPUs and back, where the layout says so."""
    if int(layout.offload[0]) != PARAMETERS_OFF:
        return ()
    seconds = colocated_swap_s(context.state, np.asarray(layout.gpus, dtype=np.float64), context.calibration)
    return (StageDetail("transfer", "policy", float(seconds[0]), None),)


def gradient_gb(context: Context, hardware: Hardware, layout: Layout, group_size: int) -> tuple[float, float]:
    """GB of gradients that one node's GPUs send in a step of one layout, and those of them that leave the node."""
    sent, leaving = 0.0, 0.0
    for stage in context.workload.of_kind(StageKind.TRAIN):
        shape, training = context.shapes[stage.role], context.trainings[stage.role]
        sequences = context.sequences(stage, group_size)
        count, _ = micro_batches(context.tokens(stage), sequences, stage.updates, layout)
        often = stage.updates * stage.epochs
        each, out = gradient_bytes(shape, training, hardware, layout, count)
        sent, leaving = sent + often * float(each[0]), leaving + often * float(out[0])
    return bytes_to_gb(sent), bytes_to_gb(leaving)


def layout_choice(layout: Layout, colocated: ColocatedRow | None) -> dict[str, int | str | bool | None]:
    """One layout in the plan's keys."""

    def one(name: str) -> int:
        return int(getattr(layout, name)[0])

    return {
        "tp": one("tp"),
        "pp": one("pp"),
        "vp": one("vp") if one("pp") > 1 else None,
        "dp": one("dp"),
        "cp": one("cp"),
        "ep": one("ep"),
        "etp": one("etp") if one("ep") > 1 else None,
        "sequence_parallel": one("tp") > 1,
        "sharding": Sharding.at(one("sharding")) if one("dp") * one("cp") > 1 else "ddp",
        "micro_batch": one("micro_batch"),
        "recompute": Recompute.at(one("recompute")),
        "offload": Offload.at(one("offload")),
        "rollout_tp": colocated.tp if colocated else None,
        "rollout_ep": colocated.ep if colocated and colocated.ep > 1 else None,
    }
