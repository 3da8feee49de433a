"""A request with its facts, candidates and prices, frozen: everything the search needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rlopt.facts import Catalog, Model
from rlopt.facts.operations import Operations
from rlopt.problem.detail import Estimates, Nearest
from rlopt.problem.loading import LoadTable
from rlopt.problem.market import Market
from rlopt.problem.phases import Phase
from rlopt.problem.pools import Pools
from rlopt.problem.recovery import Checkpoint, RecoveryOption
from rlopt.problem.tariff import Tariff, TierTable
from rlopt.request import Request
from rlopt.table import Floats, Ints
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant


@dataclass(frozen=True, slots=True)
class Problem:
    """A request with its facts, candidates and prices, frozen. ``colocated`` pools train and sample in one."""

    request: Request
    catalog: Catalog
    workload: Workload
    """The first variant's: roles, lengths and volumes that all variants share."""
    variants: tuple[Variant, ...]
    models: Mapping[str, Model]
    market: Market
    operations: Operations
    tariffs: tuple[Tariff, ...]
    tiers: TierTable
    """The tariffs' storage tiers as arrays."""
    checkpoint: Checkpoint
    intervals: Mapping[tuple[int, int], tuple[int, ...]]
    """Checkpoint intervals in steps to choose from, by variant and group size."""
    training: Pools
    rollout: Pools
    scoring: Pools
    """Pools that only score, for the variants whose teacher or reward model has a pool of its own."""
    colocated: Pools
    estimates: Estimates
    """Layouts and stage details behind the pools' ``estimate`` rows."""
    sync_seconds: tuple[float, float, float]
    """Seconds of every step outside the stages, by placement: weight transfer and fixed overheads."""
    staleness: int
    """Steps that samples lag behind in an asynchronous plan."""
    exposed_share: float
    """Share of the shorter pool's time that an asynchronous step still waits for."""
    candidates: int
    excluded: Mapping[str, int]
    warnings: tuple[str, ...]
    gpu_limit: int
    loading: LoadTable | None = None
    """Ways to bring samples to the pools that train; None where no step reads any."""
    bare: tuple[Pools, Pools] | None = None
    """Training and colocated pools before any way of loading was joined to them."""
    recovery_options: tuple[RecoveryOption, ...] = (RecoveryOption(),)
    """Ways to keep a run alive, to choose from; fewest spare nodes first."""
    elastic: bool = False
    """Whether the loss of a rollout machine leaves the run going."""
    faults_per_node: Floats | None = None
    """Failures per hour of one node, reclaims left out, by offer; None where every stop is a failure."""
    wait_hours: Floats | None = None
    """Wait for machines by offer; None where there is none."""
    phases: tuple[Phase, ...] = ()
    """What is done before the job, on machines of its own."""
    later_seconds: tuple[tuple[float, float, float], ...] = ()
    """What a variant takes beyond ``sync_seconds``, by variant and placement; () where all take the same."""
    nearest: Nearest | None = None
    """The training layout that comes closest to fitting, where none fits."""
    pace: float = 1.0
    """What every step takes over what is predicted."""

    def overhead(self, placement: int, variant: Ints) -> Floats:
        """Seconds of every step outside the stages by variant, shape of ``variant``."""
        least = self.sync_seconds[placement]
        if not self.later_seconds:
            return np.full(np.shape(variant), least)
        return least + np.array([later[placement] for later in self.later_seconds])[variant]

    def with_slower_overheads(self, factor: float) -> Problem:
        """The problem with ``factor`` times the seconds of every step outside the stages."""
        if factor == 1.0:
            return self

        def times(seconds: tuple[float, float, float]) -> tuple[float, float, float]:
            return seconds[0] * factor, seconds[1] * factor, seconds[2] * factor

        later = tuple(times(seconds) for seconds in self.later_seconds)
        return replace(self, sync_seconds=times(self.sync_seconds), later_seconds=later)

    def recovery(self, value: Callable[[RecoveryOption], float]) -> Floats:
        """A number of each way to keep a run alive, shape (options,); `Columns.recovery` points into it."""
        return np.array([value(recovery) for recovery in self.recovery_options], dtype=np.float64)

    def steps(self, variant: Ints, group_size: Ints) -> Ints:
        """Steps of one run by variant and group size, shape of the inputs; 0 where there are none."""
        width = int(np.max(group_size, initial=0)) + 1
        table = np.zeros((len(self.variants), width), dtype=np.int64)
        for number, one in enumerate(self.variants):
            for size, steps in one.steps.items():
                if size < width:
                    table[number, size] = steps
        found: Ints = table[variant, group_size]
        return found
