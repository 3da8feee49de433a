"""Everything the search needs, frozen: pool candidates column by column, and the joint columns made of them.

A joint column is one complete way to run the job: placement, group size, precision, a training pool, a rollout pool
(none when colocated), checkpoint interval and tier. Its hours and cost are plain numbers, so the program over joint
columns is exact by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlopt.candidates.beside import ASYNC as ASYNC
from rlopt.candidates.beside import COLOCATED as COLOCATED
from rlopt.candidates.beside import DISAGGREGATED as DISAGGREGATED
from rlopt.candidates.beside import PLACEMENTS as PLACEMENTS
from rlopt.candidates.beside import Support as Support
from rlopt.candidates.detail import Estimates, Nearest
from rlopt.candidates.load_table import LoadTable
from rlopt.candidates.market import Market
from rlopt.candidates.operations import Operations
from rlopt.candidates.phases import Phase
from rlopt.candidates.saved import Checkpoint as Checkpoint
from rlopt.candidates.tariff import Tariff, TierTable
from rlopt.candidates.ways import Care as Care
from rlopt.facts import Catalog, Model
from rlopt.request import PRECISION_RANK, Request
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNSCORED = max(PRECISION_RANK.values())
"""Rank of the scoring precision where nothing scores: no floor speaks of it."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Priced pool candidates of one kind, each of one offer. All arrays have shape (pools,).

    ``seconds`` is the median time of the pool's own stages in one step, ``confident_seconds`` the same with every
    stage at its confidence quantile (stage errors fully correlated). ``steady_seconds`` hold where the pool runs
    out of step (asynchronous). ``once_seconds`` come before the first step. ``variant`` numbers the way the job is
    laid out (of rollout pools the first of those that sample alike), ``environment`` the number of environment
    instances, ``precision`` the pool's own (rollout pools of one mix share it). ``estimate`` points into the estimate
    table that knows the layout.
    """

    offer: Ints
    nodes: Ints
    gpus: Ints
    zone: Ints
    usd_per_hour: Floats
    failures_per_hour: Floats
    spot: NDArray[np.bool_]
    group_size: Ints
    update_precision: Ints
    seconds: Floats
    confident_seconds: Floats
    steady_seconds: Floats
    confident_steady_seconds: Floats
    estimate: Ints
    variant: Ints
    environment: Ints
    environment_usd_per_hour: Floats
    precision: Ints
    once_seconds: Floats
    confident_once_seconds: Floats
    term_hours: Floats
    """Hours that a reserved offer bills at least and in multiples of; 0 elsewhere."""
    disk_gb: Floats
    """Block storage to rent beside the machines' own disks, all nodes."""
    disk_gib: Floats
    """Disk that each node needs, GiB."""
    host_gib: Floats
    """Host memory that each node needs, GiB."""
    score_precision: Ints
    """Rank of the least precision that any model scores in on the pool; `UNSCORED` where none does."""
    nodes_per_replica: Ints
    """Nodes that one rollout engine spans; 1 where nothing samples."""
    load: Ints
    """How the pool gets its samples: number of an option of the problem's `loading`."""
    load_seconds: Floats
    """Seconds to read and prepare one step's samples, beside the step before."""
    stall_seconds: Floats
    """Part of ``seconds`` in which the pool waits for them."""
    load_usd_per_hour: Floats
    """Machines that prepare samples."""
    load_disk_gb: Floats
    """Volumes that they boot from."""
    mount_usd_per_hour: Floats
    """File system or volumes that are mounted for them."""
    points: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """Seconds at each point of a run whose lengths change (`candidates.over_run`); no columns where none does."""

    def __post_init__(self) -> None:
        if len(self.points) != len(self.offer):
            object.__setattr__(self, "points", np.zeros((len(self.offer), 0)))

    @property
    def rate(self) -> Floats:
        """USD per hour of the machines, of the environment that they sample from, and of those that prepare samples."""
        return np.asarray(self.usd_per_hour + self.environment_usd_per_hour + self.load_usd_per_hour)

    def rate_of(self, index: Ints) -> Floats:
        """`rate` of some rows, without a look at the others."""
        parts = (self.usd_per_hour, self.environment_usd_per_hour, self.load_usd_per_hour)
        return np.asarray(np.sum([part[index] for part in parts], axis=0))

    @property
    def committed_usd(self) -> Floats:
        """Least that reserved offers bill, USD: one whole term."""
        return np.asarray(self.usd_per_hour * self.term_hours)

    def times(self, placement: int) -> tuple[Floats, Floats]:
        """Median and confident seconds in a placement: out of step, nothing waits for the longest response."""
        if placement == ASYNC:
            return self.steady_seconds, self.confident_steady_seconds
        return self.seconds, self.confident_seconds

    def __len__(self) -> int:
        return int(self.offer.shape[0])

    def take(self, index: Any) -> Pools:
        """The rows of ``index`` (integers or a mask)."""
        return Pools(*(getattr(self, one.name)[index] for one in fields(self)))

    @staticmethod
    def join(parts: list[Pools]) -> Pools:
        """All rows of ``parts`` in order; there must be at least one part."""
        return Pools(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Pools)))


@dataclass(frozen=True, slots=True)
class Columns:
    """Joint columns. All arrays have shape (columns,); pool indices are -1 where a column has no such pool.

    ``rollout2`` and ``score2`` are the second offers of mixed pools; ``split`` and ``score_split`` the share of the
    samples that the first offer takes.
    """

    placement: Ints
    zone: Ints
    variant: Ints
    train: Ints
    rollout: Ints
    rollout2: Ints
    score: Ints
    score2: Ints
    split: Floats
    score_split: Floats
    environment: Ints
    group_size: Ints
    steps: Ints
    update_precision: Ints
    score_precision: Ints
    """Rank of the least precision of all scoring passes."""
    staleness: Ints
    interval_steps: Ints
    tier: Ints
    care: Ints
    """Number of the way a run is kept alive, in `Problem.cares`."""
    gpus: Ints
    """All of them, spare nodes included."""
    spare_gpus: Ints
    spot_gpus: Ints
    """Those at work, spare nodes left out."""
    nodes: Ints
    usd_per_hour: Floats
    """All machines with GPUs, spare nodes included."""
    spare_usd_per_hour: Floats
    committed_usd_per_hour: Floats
    """Part of ``usd_per_hour`` that reserved offers take."""
    committed_usd: Floats
    """What reserved offers bill over all trials, whole terms."""
    cpu_usd_per_hour: Floats
    mount_usd_per_hour: Floats
    """File system or volumes that the samples are read from."""
    disk_gb: Floats
    mixed_share: Floats
    """Least share of a mixed pool's throughput that no provider takes back; 1 where nothing is mixed."""
    once_hours: Floats
    """Failure-free hours of what runs once, before the first step."""
    step_seconds: Floats
    failure_free_hours: Floats
    expected_hours: Floats
    confident_hours: Floats
    """What the deadline is held against: waits and pilots that count within it are included."""
    failures_per_hour: Floats
    """Stops of the whole run."""
    lost_per_hour: Floats
    """Machines lost without a stop of the run."""
    faults_per_hour: Floats
    """Failures of machines, reclaims left out."""
    divergence_hours: Floats
    """Part of ``expected_hours`` that collapses of the training cost."""
    wait_hours: Floats
    """Longest wait for machines of any pool."""
    recovery_minutes: Floats
    usd: Floats

    def __len__(self) -> int:
        return int(self.zone.shape[0])

    def take(self, index: Any) -> Columns:
        """The rows of ``index`` (integers or a mask)."""
        return Columns(*(getattr(self, one.name)[index] for one in fields(self)))

    def with_cost(self, usd: Floats) -> Columns:
        """The same columns with their total cost filled in."""
        return replace(self, usd=usd)

    @staticmethod
    def join(parts: list[Columns]) -> Columns:
        """All rows of ``parts`` in order; there must be at least one part."""
        return Columns(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Columns)))


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
    cares: tuple[Care, ...] = (Care(),)
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

    def care(self, value: Callable[[Care], float]) -> Floats:
        """A number of each way to keep a run alive, shape (cares,); `Columns.care` points into it."""
        return np.array([value(care) for care in self.cares], dtype=np.float64)

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
