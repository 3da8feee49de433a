"""A workload whose responses grow or shrink over the run, as it is at one point of it."""

from __future__ import annotations

from dataclasses import replace

from rlopt.workloads.contract import Stage, Workload


def grows(workload: Workload) -> bool:
    """Whether the mean length of any stage moves over the run."""
    return any(stage.lengths.response_growth for stage in workload.stages)


def stage_at(stage: Stage, share: float) -> Stage:
    """A stage when ``share`` of the run is done."""
    return replace(stage, lengths=stage.lengths.at(share))


def workload_at(workload: Workload, share: float) -> Workload:
    """The workload when ``share`` of the run is done; lengths alone differ."""
    asked, loads = workload.evaluation, workload.loads
    return replace(
        workload,
        stages=tuple(stage_at(stage, share) for stage in workload.stages),
        screening=tuple(stage_at(stage, share) for stage in workload.screening),
        evaluation=None if asked is None else replace(asked, stage=stage_at(asked.stage, share)),
        loads=None if loads is None else stage_at(loads, share),
    )
