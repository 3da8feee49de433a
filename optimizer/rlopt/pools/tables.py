"""The estimate tables behind the pools, and what a plan says of one of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rlopt.estimates import Hardware
from rlopt.pools.bands import band_of
from rlopt.pools.context import Context, margin
from rlopt.pools.handover import handover_seconds
from rlopt.pools.limiting import limits
from rlopt.pools.rows import ColocatedRow, SamplingRow, ScoringRow, TrainingRow
from rlopt.pools.sampling.detail import engine_detail
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.sampling.mixing import TABLE, Remembered, as_table, mixed_bound, mixed_least, mixed_times, unknown
from rlopt.pools.sampling.table import SamplingTable
from rlopt.pools.scoring.table import ScoringTable, scoring_parts, scoring_seconds
from rlopt.pools.training.detail import layout_choice, training_detail
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Floats, Ints, Mix
from rlopt.problem.detail import PoolDetail, StageDetail
from rlopt.table import groups, put_back
from rlopt.words import StageKind

Known = dict[tuple[int, int, bool], Floats]
Work = Callable[[Context, SamplingTable, Ints, Ints, Ints, Known], Mix]
"""Seconds of pairs of one table: rows of all candidates, the two sides, and what was computed before."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Answers the plan's questions about a pool by estimating that one row again, part by part.

    Training and scoring tables stand with the context of their own layout of the job.
    """

    context: Context
    training: Sequence[tuple[Context, TrainingTable]]
    sampling: Sequence[tuple[Context, SamplingTable]]
    scoring: Sequence[tuple[Context, ScoringTable]]
    training_rows: Sequence[TrainingRow]
    sampling_rows: Sequence[SamplingRow]
    scoring_rows: Sequence[ScoringRow]
    colocated_rows: Sequence[ColocatedRow]
    remembered: Remembered = field(default_factory=Remembered)

    @property
    def ends(self) -> tuple[Tables, ...]:
        """The tables at the first and at the last step; nothing where no length changes over the run."""
        return ()

    def training_detail(self, row: int) -> PoolDetail:
        """A pool that trains, and sends its weights to another."""
        entry = self.training_rows[row]
        context, table = self.training[entry.table]
        found = training_detail(context, table, entry, None)
        return replace(found, stages=(*found.stages, *_sent(context, int(table.topology[entry.row]))))

    def colocated_detail(self, row: int) -> PoolDetail:
        """A pool that trains and, where the job samples, samples in turn."""
        colocated = self.colocated_rows[row]
        return training_detail(
            *self.training[colocated.train.table], colocated.train, colocated if colocated.tp else None
        )

    def mixed(self, first: Ints, second: Ints) -> Mix:
        """Rollout pools of two estimates each, every one at its share of the samples.

        Zones, placements and goals meet the same pairs again: what was estimated is kept.
        """
        return self.remembered.mixes(first, second, lambda a, b: self._by_table(mixed_times, a, b))

    def mixed_bound(self, first: Ints, second: Ints) -> Mix:
        """Never more than `mixed` says, and quick."""
        return self._by_table(mixed_bound, first, second)

    def mixed_least(self, estimate: Ints) -> Mix:
        """Seconds that a rollout pool of a mix takes whatever its share."""
        return self._by_table(
            lambda context, table, rows, one, _, known: mixed_least(context, table, rows, one, known),
            estimate,
            estimate,
        )

    def _rows(self) -> Ints:
        if not self.remembered.rows:
            self.remembered.rows.append(as_table(self.sampling_rows))
        return self.remembered.rows[0]

    def _by_table(self, work: Work, first: Ints, second: Ints) -> Mix:
        """Seconds of pairs, each from its own table: both rows of a pair are of one."""
        rows = self._rows()
        parts = []
        for (number,), here in groups(rows[first, TABLE]).items():
            known = self.remembered.least.setdefault(number, {})
            parts.append((here, work(*self.sampling[int(number)], rows, first[here], second[here], known)))
        return put_back(parts) if parts else unknown(0)

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        """A rollout pool that takes ``share`` of the samples; ``asynchronous``: where it runs so."""
        entry = self.sampling_rows[row]
        context, table = self.sampling[entry.table]
        at = slice(entry.row, entry.row + 1)
        hardware = context.hardware.take(table.topology[at])
        tp, ep = table.tp[at], table.ep[at]
        precision = context.request.choices.precision.rollout[int(table.precision[entry.row])]
        gpus = (table.nodes[at] * hardware.gpus_per_node).astype(np.int64)
        engine = Engine(hardware, tp, ep, gpus, precision)
        found = engine_detail(context, engine, entry.group_size, entry.environment, asynchronous, share)
        layout: dict[str, int | str | bool | None] = {
            "tp": int(tp[0]),
            "pp": 1,
            "dp": int(gpus[0] // tp[0]),
            "cp": 1,
            "ep": int(ep[0]),
            "offload": "none",
        }
        screens = bool(context.workload.screening)
        return PoolDetail(
            roles=(StageKind.SAMPLE, StageKind.SCORE) if screens else (StageKind.SAMPLE,),
            serves=("policy", "value") if screens else ("policy",),
            layout=layout,
            precision=precision,
            score_precision=context.screened_in if screens else None,
            rollout_precision=precision,
            needed_gib=sum(found.parts.values()),
            capacity_gib=float(hardware.memory_gib[0]) * (1.0 - margin(context)),
            host_gib=None,
            peak_stage=StageKind.SAMPLE,
            parts=found.parts,
            by_stage={StageKind.SAMPLE: found.parts},
            stages=(*found.stages, *_sent(context, int(table.topology[entry.row]))),
            memory_margin=margin(context),
            **band_of(context, "generation", hardware),
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

        def timed(machine: Hardware) -> list[tuple[str, Floats]]:
            return scoring_seconds(context, machine, layout, entry.group_size, precision)

        limited = limits(lambda machine: [float(seconds[0]) for _, seconds in timed(machine)], hardware)
        stages = [
            StageDetail(StageKind.SCORE, role, float(seconds[0]) * share, None, by)
            for (role, seconds), by in zip(timed(hardware), limited, strict=True)
        ]
        return PoolDetail(
            roles=(StageKind.SCORE,),
            serves=tuple(dict.fromkeys(stage.model for stage in stages)),
            layout=layout_choice(layout, None),
            precision=precision,
            score_precision=precision,
            rollout_precision=None,
            needed_gib=sum(peaks[peak].values()),
            capacity_gib=float(hardware.memory_gib[0]) * (1.0 - margin(context)),
            host_gib=None,
            peak_stage=peak,
            parts=peaks[peak],
            by_stage=peaks,
            stages=tuple(stages),
            frozen_gib=peaks[peak]["weights"],
            memory_margin=margin(context),
            **band_of(context, "training", hardware),
        )


def _sent(context: Context, topology: int) -> tuple[StageDetail, ...]:
    """What a machine's link adds to the hand-over of weights; nothing where it is quicker than the software."""
    seconds = float(handover_seconds(context)[topology])
    return (StageDetail("transfer", "policy", seconds, None),) if seconds > 0.0 else ()
