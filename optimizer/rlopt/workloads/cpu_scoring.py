"""Reward models on machines without GPUs: how many processes score, and how long a step's samples take.

A process scores one sample at a time in as many seconds as were measured. Scoring starts when all samples are there and
ends before training does: a step waits for it, in and out of step alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rlopt.request import CpuScoring
from rlopt.words import StageKind
from rlopt.workloads.contract import Workload
from rlopt.workloads.picked import Picked

ROLE = "reward"
WEIGHT_BYTES = 2.0
"""A parameter in bf16."""


@dataclass(frozen=True, slots=True)
class CpuScorers:
    """Processes that score, each of ``vcpus`` and ``memory_bytes``, a sample in ``sample_seconds``."""

    processes: int
    vcpus: float
    memory_bytes: float
    sample_seconds: float

    def seconds(self, workload: Workload, group_size: int) -> float:
        """Seconds of one step's samples, shared out evenly: some process scores the most."""
        passes = [stage for stage in workload.of_kind(StageKind.SCORE) if stage.role == ROLE]
        samples = sum(workload.sequences(stage, group_size) for stage in passes)
        return math.ceil(samples / self.processes - 1e-9) * self.sample_seconds


def measured(picked: Picked | None) -> CpuScoring | None:
    """What was measured of the chosen reward model without GPUs; ``None`` where nothing was."""
    return picked.option.cpu if picked is not None and picked.role == ROLE else None


def scorers(picked: Picked | None, workload: Workload) -> Iterator[CpuScorers]:
    """Every number of processes to choose from, where the chosen model was measured without GPUs."""
    cpu = measured(picked)
    if cpu is None:
        return
    held = cpu.memory if cpu.memory is not None else WEIGHT_BYTES * workload.role(ROLE).model.params
    for count in cpu.processes:
        yield CpuScorers(count, cpu.vcpus, held, cpu.vcpu_seconds_per_sample / cpu.vcpus)
