"""The estimate tables behind the pools, and what a plan says of one of their rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from rlopt.candidates.context import Context, margin, margins
from rlopt.candidates.detail import Ints, MixedTimes, PoolDetail, StageDetail
from rlopt.candidates.mixing import Remembered, SamplingRow, mixed_bound, mixed_times
from rlopt.candidates.sampling import SamplingTable, room_gib, sample, tools_seconds, with_tools
from rlopt.candidates.scoring import ScoringTable, scoring_parts, scoring_seconds
from rlopt.candidates.training import TrainingTable, stage_seconds
from rlopt.candidates.training_memory import PARTS, training_memory
from rlopt.estimates import (
    OFFLOAD,
    RECOMPUTE,
    SHARDING,
    Hardware,
    Layout,
    colocated_swap_s,
    framework_names,
    kv_gib_per_token,
    rollout_other_gib,
    rollout_weights_gib,
)
from rlopt.estimates.uncertainty import EIGHTY, is_measured, planned_sigma

ROUNDING = 1e-9
"""A cache that fills the room ends a hair below it, so that parts added up in another order still fit."""


class Band(TypedDict):
    """The fields of `PoolDetail` that say how far its times may be off."""

    measured: bool
    band: float


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One training candidate for one group size and update precision."""

    table: int
    row: int
    group_size: int
    precision: str


@dataclass(frozen=True, slots=True)
class ScoringRow:
    """One scoring candidate for one group size."""

    table: int
    row: int
    group_size: int


@dataclass(frozen=True, slots=True)
class ColocatedRow:
    """A training candidate with the engine it samples with."""

    train: TrainingRow
    tp: int
    ep: int
    rollout: str
    environment: int = 0


@dataclass(frozen=True, slots=True)
class Tables:
    """Answers the plan's questions about a pool by estimating that one row again, part by part.

    Training and scoring tables stand with the context of their own layout of the job.
    """

    context: Context
    training: Sequence[tuple[Context, TrainingTable]]
    sampling: SamplingTable | None
    scoring: Sequence[tuple[Context, ScoringTable]]
    training_rows: Sequence[TrainingRow]
    sampling_rows: Sequence[SamplingRow]
    scoring_rows: Sequence[ScoringRow]
    colocated_rows: Sequence[ColocatedRow]
    remembered: Remembered = field(default_factory=Remembered)

    def training_detail(self, row: int) -> PoolDetail:
        """A pool that trains, and does nothing else."""
        return self._trains(self.training_rows[row], None)

    def colocated_detail(self, row: int) -> PoolDetail:
        """A pool that trains and, where the job samples, samples in turn."""
        colocated = self.colocated_rows[row]
        return self._trains(colocated.train, colocated if colocated.tp else None)

    def mixed(self, first: Ints, second: Ints) -> MixedTimes:
        """Rollout pools of two estimates each, every one at its share of the samples.

        Zones, placements and goals meet the same pairs again: what was estimated is kept.
        """
        return self.remembered.times(
            first, second, lambda a, b: mixed_times(self.context, self._table(), self.sampling_rows, a, b)
        )

    def mixed_bound(self, first: Ints, second: Ints) -> MixedTimes:
        """Never more than `mixed` says, and quick."""
        return mixed_bound(self.context, self._table(), self.sampling_rows, first, second)

    def _table(self) -> SamplingTable:
        if self.sampling is None:
            raise LookupError("no rollout pool was estimated")
        return self.sampling

    def rollout_detail(self, row: int, steady: bool, share: float = 1.0) -> PoolDetail:
        """A rollout pool that takes ``share`` of the samples; ``steady`` where it runs out of step."""
        context, entry, table = self.context, self.sampling_rows[row], self._table()
        at = slice(entry.row, entry.row + 1)
        hardware = context.hardware.take(table.topology[at])
        tp, ep = table.tp[at], table.ep[at]
        precision = context.request.choices.precision.rollout[int(table.precision[entry.row])]
        gpus = (table.nodes[at] * hardware.gpus_per_node).astype(np.int64)
        parts, stage = self._sampling(
            (entry.group_size, entry.environment), tp, ep, gpus, precision, None, table.topology[at], steady, share
        )
        layout: dict[str, int | str | bool | None] = {
            "tp": int(tp[0]),
            "pp": 1,
            "dp": int(gpus[0] // tp[0]),
            "cp": 1,
            "ep": int(ep[0]),
            "offload": "none",
        }
        return PoolDetail(
            roles=("generate",),
            serves=("policy",),
            layout=layout,
            precision=precision,
            score_precision=None,
            rollout_precision=precision,
            needed_gib=sum(parts.values()),
            capacity_gib=float(hardware.memory_gib[0]) * (1.0 - margin(context)),
            host_gib=None,
            peak_stage="generate",
            parts=parts,
            stages=(stage, *self._tools(entry.group_size, entry.environment)),
            memory_margin=margin(context),
            **self._band("generation", hardware),
        )

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        """A pool that only scores, ``share`` of the samples."""
        entry = self.scoring_rows[row]
        context, table = self.scoring[entry.table]
        at = slice(entry.row, entry.row + 1)
        hardware, layout = context.hardware.take(table.topology[at]), table.layout.take(at)
        precision = context.request.choices.precision.score[int(table.precision[entry.row])]
        memory = scoring_parts(context, layout, precision)
        peaks = {stage: {name: float(values[0]) for name, values in parts.items()} for stage, parts in memory.items()}
        peak = max(peaks, key=lambda name: sum(peaks[name].values()))
        stages = [
            StageDetail("forward", role, float(seconds[0]) * share, None)
            for role, seconds in scoring_seconds(context, hardware, layout, entry.group_size, precision)
        ]
        return PoolDetail(
            roles=("forward",),
            serves=tuple(dict.fromkeys(stage.model for stage in stages)),
            layout=_layout(layout, None),
            precision=precision,
            score_precision=precision,
            rollout_precision=None,
            needed_gib=sum(peaks[peak].values()),
            capacity_gib=float(hardware.memory_gib[0]) * (1.0 - margin(context)),
            host_gib=None,
            peak_stage=peak,
            parts=peaks[peak],
            stages=tuple(stages),
            memory_margin=margin(context),
            **self._band("training", hardware),
        )

    def _band(self, kind: str, hardware: Hardware) -> Band:
        """Whether this GPU type was measured at what it does here, and the error band of its times."""
        context, loop = self.context, self.context.workload.generates
        name = hardware.names[int(hardware.kind[0])] if hardware.kind is not None else ""
        framework = framework_names(context.calibration)[context.framework]
        half = EIGHTY * planned_sigma(kind, name, context.moe, context.calibration, loop, framework)
        return {
            "measured": is_measured(kind, name, context.calibration, loop),
            "band": math.exp(half) - 1.0,
        }

    def _tools(self, size: int, environment: int) -> tuple[StageDetail, ...]:
        if self.context.workload.tools is None:
            return ()
        seconds = tools_seconds(self.context, size, self.context.instances[environment])
        return (StageDetail("environment", "policy", seconds, None),)

    def _sampling(
        self,
        choice: tuple[int, int],
        tp: np.ndarray,
        ep: np.ndarray,
        gpus: np.ndarray,
        precision: str,
        resident: float | None,
        topology: np.ndarray,
        steady: bool = False,
        share: float = 1.0,
    ) -> tuple[dict[str, float], StageDetail]:
        """Memory of the sampling stage by part and its seconds; ``resident``: GiB of training state beside it.

        ``choice`` is the group size and the place of the number of environment instances.
        """
        size, instances = choice[0], self.context.instances[choice[1]]
        context = self.context
        hardware = context.hardware.take(topology)
        room = room_gib(context, hardware, tp, ep, precision, resident or 0.0, resident is not None)
        colocated = resident is not None
        time = sample(context, hardware, tp, ep, gpus, precision, room, size, steady, colocated, share, instances)
        lengths = context.workload.of_kind("generate")[0].lengths
        groups = np.maximum(tp, ep) / tp
        held = time.running / groups * kv_gib_per_token(context.shapes["policy"], tp) * lengths.longest
        used = float(held[0])
        weights = float(rollout_weights_gib(context.shapes["policy"], precision, tp, ep, context.calibration)[0])
        fragmentation = float(context.calibration.memory["fragmentation"])
        parts = dict.fromkeys(PARTS, 0.0)
        parts |= {
            "weights": weights,
            "kv_cache": min(used, float(room[0]) * (1.0 - ROUNDING)),
            "buffers": weights * fragmentation,
            "runtime": rollout_other_gib(context.calibration),
        }
        seconds = float(with_tools(context, time.seconds, size, instances)[0])
        return parts, StageDetail("generate", "policy", seconds, float(time.utilization[0]))

    def _trains(self, entry: TrainingRow, colocated: ColocatedRow | None) -> PoolDetail:
        context, table = self.training[entry.table]
        at = slice(entry.row, entry.row + 1)
        layout, hardware = table.layout.take(at), context.hardware.take(table.topology[at])
        memory = training_memory(context, layout, hardware, entry.precision, table.score_precision)
        peaks = {stage.stage: {name: float(stage.parts[name][0]) for name in PARTS} for stage in memory.stages}
        stages = [
            StageDetail(kind, role, float(seconds[0]), None)
            for kind, role, seconds in stage_seconds(
                context, hardware, layout, entry.group_size, entry.precision, table.score_precision
            )
        ]
        gpus = layout.gpus
        if colocated is not None:
            resident = {name: float(values[0]) for name, values in memory.resident.items()}
            tp, ep = np.array([colocated.tp]), np.array([colocated.ep])
            parts, stage = self._sampling(
                (entry.group_size, colocated.environment),
                tp,
                ep,
                gpus,
                colocated.rollout,
                sum(resident.values()),
                table.topology[at],
            )
            fragmentation = float(context.calibration.memory["fragmentation"])
            for stage_parts in peaks.values():
                stage_parts["runtime"] += context.asleep_gib
            parts["weights"] += resident["weights"]
            parts["optimizer"] += resident["optimizer"]
            parts["buffers"] += sum(resident.values()) * fragmentation
            peaks["generate"] = parts
            stages = [stage, *self._tools(entry.group_size, colocated.environment), *stages]
            if int(layout.offload[0]) == 2:
                stages.append(
                    StageDetail(
                        "transfer",
                        "policy",
                        float(colocated_swap_s(context.shapes["policy"], gpus.astype(float), context.calibration)[0]),
                        None,
                    )
                )
        peak = max(peaks, key=lambda name: sum(peaks[name].values()))
        kinds = [stage.stage for stage in stages if stage.stage in ("generate", "forward", "update")]
        serves = [stage.model for stage in stages]
        scores = any(stage.stage == "forward" for stage in stages)
        host, free = float(table.host_gib[entry.row]), float(margins(context, layout)[0])
        return PoolDetail(
            roles=tuple(dict.fromkeys(kinds)),
            serves=tuple(dict.fromkeys(serves)),
            layout=_layout(layout, colocated),
            precision=entry.precision,
            score_precision=table.score_precision if scores else None,
            rollout_precision=colocated.rollout if colocated else None,
            needed_gib=sum(peaks[peak].values()),
            capacity_gib=float(hardware.memory_gib[0]) * (1.0 - free),
            host_gib=host or None,
            peak_stage=peak,
            parts=peaks[peak],
            stages=tuple(stages),
            memory_margin=free,
            **self._band("training", hardware),
        )


def _layout(layout: Layout, colocated: ColocatedRow | None) -> dict[str, int | str | bool | None]:
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
        "sharding": SHARDING[one("sharding")] if one("dp") * one("cp") > 1 else "ddp",
        "micro_batch": one("micro_batch"),
        "recompute": RECOMPUTE[one("recompute")],
        "offload": OFFLOAD[one("offload")],
        "rollout_tp": colocated.tp if colocated else None,
        "rollout_ep": colocated.ep if colocated and colocated.ep > 1 else None,
    }
