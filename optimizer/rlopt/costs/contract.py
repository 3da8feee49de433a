"""The twin principle for money: every cost has algebra (`terms`) and arithmetic (`lines`).

`terms` prices joint columns and makes the program's objective; `lines` prices a finished plan and makes its bill.
The audit compares the two and never meets a solver. The search bounds a column from below by all terms at zero rate
and the shortest hours, so their sum must not fall when hours, rates, failures, GPUs or disks grow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.problem import Columns, Floats, Problem
from rlopt.words import StageKind
from rlopt.workloads.variants import Variant

T = TypeVar("T")
Terms = Mapping[str, NDArray[np.float64]]


def told(note: str) -> str:
    """A remark at the end of a basis; nothing where there is none."""
    return f"; {note}" if note else ""


def runs(trials: float) -> str:
    """The factor of a basis for tuning trials: nothing for a single run, else `` x 3 runs``."""
    return "" if trials == 1 else f" x {trials:g} runs"


def by_variant(columns: Columns, problem: Problem, value: Callable[[Variant, int], float]) -> Floats:
    """A number of each way to run the job and group size, by column; shape (columns,)."""
    width = int(np.max(columns.group_size, initial=0)) + 1
    table = np.zeros((len(problem.variants), width))
    for number, variant in enumerate(problem.variants):
        for size in variant.steps:
            if size < width:
                table[number, size] = value(variant, size)
    found: Floats = table[columns.variant, columns.group_size]
    return found


def variant_number(plan: PlannedRun, problem: Problem) -> int:
    """Number of the way to run the job that a plan has chosen, told from its decisions and pools."""
    made = plan.decisions
    decided = made.data or {}
    apart = any(pool.gpus and pool.roles == [StageKind.SCORE] for pool in plan.pools)
    for number, variant in enumerate(problem.variants):
        if not (variant.runs(made.placement) and made.action_head == variant.action_head):
            continue
        same = decided.get("cleaned", variant.cleaned) == variant.cleaned
        same &= decided.get("log_probs") == variant.log_probs and decided.get("value_bins") == variant.value_bins
        if variant.kernels is not None:
            same &= made.kernels == variant.kernels.model_dump()
        same &= variant.scored_on == made.scoring
        same &= variant.models == made.models
        if same and bool(variant.own) == apart:
            return number
    return 0


def variant_of(plan: PlannedRun, problem: Problem) -> Variant:
    """The way to run the job that a plan has chosen."""
    return problem.variants[variant_number(plan, problem)]


def plan_state_gb(plan: PlannedRun, problem: Problem) -> float:
    """GB of a resumable copy of a plan's checkpoint."""
    return float(problem.checkpoint.state_gb(variant_number(plan, problem))) * _stored(plan, problem)


def plan_weights_gb(plan: PlannedRun, problem: Problem) -> float:
    """GB of a copy of a plan's weights."""
    return float(problem.checkpoint.weights_gb(variant_number(plan, problem))) * _stored(plan, problem)


def _stored(plan: PlannedRun, problem: Problem) -> float:
    """Stored size / size of a plan's copies."""
    compression = problem.request.job.compression.checkpoints
    return compression.ratio if compression is not None and plan.decisions.checkpoint.compressed else 1.0


def once(work: Callable[[Columns, Problem], T]) -> Callable[[Columns, Problem], T]:
    """The same answer again for the same columns: dimensions of the bill share the choice of tiers.

    Remembers the last question alone, by identity: columns and problems are frozen.
    """
    last: list[tuple[Columns, Problem, T]] = []

    @wraps(work)
    def answer(columns: Columns, problem: Problem) -> T:
        for known, asked, found in last:
            if known is columns and asked is problem:
                return found
        found = work(columns, problem)
        last[:] = [(columns, problem, found)]
        return found

    return answer


class CostDimension(Protocol):
    """A module of this package: one dimension of the bill."""

    @property
    def DIMENSION(self) -> str:  # noqa: N802 - a constant of the module
        """What the bill calls it."""
        ...

    def terms(self, columns: Columns, problem: Problem) -> Terms:
        """USD by item, shape (columns,) each."""
        ...

    def lines(self, plan: PlannedRun, problem: Problem) -> list[BillLine]:
        """The same in arithmetic, with a basis a person can recompute. Uses the plan's own numbers."""
        ...
