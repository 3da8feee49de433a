"""One way to run a job: a workload of its own, with what was decided to come to it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rlopt.request.job.parts import Kernels
from rlopt.words import LogProbs, Placement, Scoring, StageKind
from rlopt.workloads.contract import Role, Stage, Workload
from rlopt.workloads.cpu_scoring import ROLE as CPU_ROLE
from rlopt.workloads.cpu_scoring import CpuScorers
from rlopt.workloads.picked import Picked


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the job.

    Parameters
    ----------
    workload
        Its roles and stages, its steps among them.
    cleaned
        Whether the data are clean when training starts.
    log_probs, scoring, value_bins
        What was decided; ``None`` where there is nothing to decide.
    once, once_roles, once_sequences
        Stages that run once before the first step, the roles that they need, and the sequences of each.
    stored_bytes
        Log-probabilities kept for the run, by group size.
    own
        Roles that score on a pool of their own.
    cpu
        Processes that score without GPUs; ``None`` where the reward model stands on GPUs.
    picked
        The model chosen where a role's models are listed or described; ``None`` where every model is given plainly.
    kernels
        Kernels of the training stack; ``None`` where no choice of kernels is given.
    action_head
        How the policy acts; ``None`` where no choice of heads is given.
    placements
        Placements that run it this way; ``None`` = all.
    sampler
        Number of the first variant that samples alike: rollout pools are of that one.
    """

    workload: Workload
    cleaned: bool
    log_probs: LogProbs | None = None
    scoring: Scoring | None = None
    value_bins: int | None = None
    once: tuple[Stage, ...] = ()
    once_roles: tuple[Role, ...] = ()
    once_sequences: float = 0.0
    stored_bytes: Mapping[int, float] | None = None
    own: tuple[str, ...] = ()
    cpu: CpuScorers | None = None
    picked: Picked | None = None
    kernels: Kernels | None = None
    action_head: str | None = None
    placements: tuple[Placement, ...] | None = None
    sampler: int = 0

    @property
    def models(self) -> dict[str, str] | None:
        """Role to name of the model chosen, in the plan's words; ``None`` where there was nothing to choose."""
        return None if self.picked is None else {self.picked.role: self.picked.name}

    @property
    def scored_on(self) -> dict[str, Any] | None:
        """Machines without GPUs that score, in the plan's words; ``None`` where GPUs do."""
        return None if self.cpu is None else {"on": "cpu", "processes": self.cpu.processes}

    @property
    def steps(self) -> Mapping[int, int]:
        """Steps of one run by group size."""
        return self.workload.steps

    @property
    def training(self) -> Workload:
        """What the training pool runs: everything but the roles that score elsewhere."""
        away = self.own if self.cpu is None else (CPU_ROLE,)
        return without(self.workload, away) if away else self.workload

    @property
    def scoring_stages(self) -> tuple[Stage, ...]:
        """Forward passes of the scoring pool."""
        return tuple(s for s in self.workload.stages if s.kind == StageKind.SCORE and s.role in self.own)

    def runs(self, placement: str) -> bool:
        """Whether a placement can run it this way."""
        return self.placements is None or placement in self.placements

    @property
    def runs_colocated(self) -> bool:
        """Whether one pool may do all of it."""
        return not self.own and self.runs(Placement.COLOCATED)

    @property
    def runs_apart(self) -> bool:
        """Whether a pool beside the one that trains can sample for it."""
        return self.runs(Placement.DISAGGREGATED) or self.runs(Placement.ASYNC)

    @property
    def structure_key(self) -> Hashable:
        """Equal for two variants of one request whose training pools take the same memory and seconds a step."""
        return self.training.structure_key


def without(workload: Workload, names: tuple[str, ...]) -> Workload:
    """The same without some roles and their stages."""
    return replace(
        workload,
        roles=tuple(role for role in workload.roles if role.name not in names),
        stages=tuple(stage for stage in workload.stages if stage.role not in names),
    )
