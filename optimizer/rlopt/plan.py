"""The answer in domain words: what `rlopt solve` prints and the audit reads.

Field names are fixed (schema ``rlopt.plan/1``); readers outside the project rely on them. Money is USD,
memory GiB per GPU, time in the unit the field's name ends with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.errors import InfeasibleError, SolverError
from rlopt.strict import Strict
from rlopt.usage import Usage

Status = Literal["optimal", "feasible", "infeasible"]
Dimension = Literal["compute", "storage", "network", "cache", "logging", "operations", "data"]
Kind = Literal["fixed", "elastic", "hidden"]


class SolverSummary(Strict):
    """How the answer was found and how far it is proven."""

    backend: str
    """Which translation was used: pulp or ortools."""
    engine: str
    """The solver behind it, with its version."""
    objective_usd: float | None
    """Total of the plan in USD as the program adds it up."""
    bound_usd: float | None
    """No plan within the limits costs less than this."""
    gap: float | None
    """(objective - bound) / objective."""
    seconds: float
    """Time inside the solver."""
    search_seconds: float = 0.0
    """Time spent before that on bounding and pricing what the solver is handed."""
    columns: int
    """Columns of the program that was handed to the solver."""
    candidates: int
    """Pool candidates that were estimated before any reduction."""
    excluded: dict[str, int] = Field(default_factory=dict)
    """Candidates and columns left out, by the exact argument that excluded them."""
    rows: int = 0
    """Rows of the program."""
    root_gap: float | None = None
    """Gap between the linear relaxation and the optimum, relative."""
    objective: Literal["cost", "time"] = "cost"
    """What was minimised."""
    bound_hours: float | None = None
    """No plan within the limits is done sooner (objective: time)."""


class BillLine(Strict):
    """One line of the bill; ``basis`` lets a person recompute it."""

    dimension: Dimension
    item: str
    kind: Kind
    usd: float
    basis: str


class Cost(Strict):
    """The whole bill."""

    total_usd: float
    lines: list[BillLine]


class StageTime(Strict):
    """Seconds one stage takes in one step, and how busy its pool is meanwhile."""

    stage: str
    pool: str
    seconds: float
    utilization: float | None = None
    model: str | None = None
    """Which model the stage runs (policy, reference, ...)."""
    hidden_seconds: float = 0.0
    """Part that passes beside other stages and makes no step longer: samples loaded during the step before."""
    limited_by: str | None = None
    """What, twice as fast, would shorten the stage most: compute, memory bandwidth, communication, copies to host
    memory, launches and latencies, environment, longest responses, reading samples or preparing samples; null where
    that was not looked at."""


class Time(Strict):
    """When the run is done."""

    expected_hours: float
    """Median prediction of one run, failures included."""
    confidence: float
    confident_hours: float
    """The ``confidence`` quantile of the prediction: what the deadline is held against."""
    deadline_hours: float | None
    step_seconds: float
    """One step, everything in it; on average over the run where lengths change, as the seconds of its stages are."""
    steps: int
    stages: list[StageTime]
    failure_free_hours: float
    """Hours of one run if nothing failed: what the compute lines bill.

    startup_hours + once_hours + steps x step_seconds / 3600 + saving_hours
    """
    startup_hours: float
    """Part of the hours before the first step and after the last."""
    once_hours: float = 0.0
    """Part that is passes over the data, once before the first step."""
    saving_hours: float = 0.0
    """Part in which steps stand still for checkpoints."""
    divergence_hours: float = 0.0
    """Part of the expected hours that collapses of the training cost: steps done again and restarts."""
    waiting_hours: float = 0.0
    """From the request to the last of the machines."""
    waiting_counts: bool = False
    """Whether that wait is part of the confident hours: it is where the deadline starts with the request."""
    pilot_hours: float = 0.0
    """Part of the confident hours that pilots take, where they count within the deadline."""
    first_step_seconds: float | None = None
    """The first step, where responses change in length over the run (`job.response_tokens.mean_end`); else null."""
    last_step_seconds: float | None = None
    """The last step; else null."""


class TierUse(Strict):
    """Checkpoint copies kept in one storage tier, at their peak."""

    tier: str
    copies: int
    gib: float
    usd: float
    roles: list[str] = Field(default_factory=list)
    """recent, best, history."""


class Move(Strict):
    """Copies of one role that move to another tier once they are old enough."""

    role: str
    """recent: those kept after the run, and their age counts from its end | best."""
    to: str
    """The tier."""
    after_hours: float
    """Age, whole days."""


class CheckpointDecision(Strict):
    """How often the run saves and where the copies stand."""

    interval_steps: int
    tiers: list[TierUse]
    recovery_minutes: float
    compressed: bool = False
    """Whether copies are compressed before they are uploaded."""
    moves: list[Move] = Field(default_factory=list)
    """What changes its tier when it is old."""


class Kept(Strict):
    """One kind of bytes beside the checkpoints, where it stands and where it moves to."""

    item: str
    """As on the bill: dataset, trajectories, ..."""
    tier: str
    gib: float
    """At its peak."""
    hours: float
    """Held on average, all runs and the time after them."""
    to: str | None = None
    """The tier that it moves to."""
    after_hours: float | None = None
    """Age at which it does, whole days."""
    compressed: bool = False
    """Whether it is compressed before it is stored."""


class LoggingDecision(Strict):
    """How much text of the samples is kept."""

    text_log_rate: float
    kept_in: str = "service"
    """service: a logging service. store: files in an object store."""


class PrecisionDecision(Strict):
    """Number formats by kind of work; null where the job has no such work."""

    rollout: str | None
    score: str | None
    update: str


class LoadDecision(Strict):
    """How samples of the data set reach the pool that trains."""

    store: str
    """object | filesystem | block."""
    vcpus: int
    """Of the machines that do nothing but prepare samples; 0 where those that train do it beside."""
    nodes: int
    """Machines that do nothing but prepare samples."""
    stall_seconds: float
    """Seconds of each step that the GPUs wait for samples."""
    mounted: str | None = None
    """The file system or kind of volume, null from object storage."""
    units: int = 0
    """How many of it: one file system, or a volume of each machine."""
    gb: float = 0.0
    """Size of each as it is provisioned."""
    mb_s: float = 0.0
    """Throughput of each."""
    paid_mb_s: float = 0.0
    """Part of that which is billed beside the size."""
    paid_iops: float = 0.0
    """Operations a second that are billed beside the size."""


class Decisions(Strict):
    """Everything else that was open."""

    placement: str
    group_size: int | None
    precision: PrecisionDecision
    staleness: int
    checkpoint: CheckpointDecision
    logging: LoggingDecision
    data: dict[str, Any] | None = None
    models: dict[str, str] | None = None
    """Role to the model chosen; null where every model was given plainly."""
    kernels: dict[str, str] | None = None
    """Kernels of the training stack that the plan counts with, chosen or as the request states them."""
    scoring: dict[str, Any] | None = None
    """on: cpu, processes: how many score there; null where GPUs score."""
    environment: dict[str, Any] | None = None
    storage: list[Kept] = Field(default_factory=list)
    """Every kind of bytes beside the checkpoints, each in the way that costs least."""
    load: LoadDecision | None = None
    """Null where no step reads samples of a data set."""
    operations: dict[str, Any] | None = None
    """release: how machines are given back after a run, by hand or automatic; null where nothing was to decide."""
    action_head: str | None = None
    """How the policy acts: flow, one_step or tokens; null where no choice of heads was given."""
    screening: dict[str, Any] | None = None
    """Samples screened by their value before they are stored: seconds of a step that this takes, beside what it saves
    (stored_gb and traffic_gb of a step, seconds of updates); null where nothing is screened."""
    recovery: dict[str, Any] | None = None
    """spare_nodes: nodes that stand ready; rollouts_every: tokens between two copies of an unfinished response, null
    where none are made; elastic: whether a lost rollout machine leaves the run going. Null where nothing was asked."""


class LayoutChoice(Strict):
    """Parallel layout of a pool; what does not apply is null."""

    tp: int | None = None
    pp: int | None = None
    vp: int | None = None
    dp: int | None = None
    cp: int | None = None
    ep: int | None = None
    etp: int | None = None
    sequence_parallel: bool | None = None
    sharding: str | None = None
    micro_batch: int | None = None
    recompute: str | None = None
    offload: str | None = None
    rollout_tp: int | None = None
    """Tensor parallel degree of the rollout engine where a pool also trains (colocated)."""
    rollout_ep: int | None = None
    """Its expert parallel degree, where attention runs data-parallel."""


class Memory(Strict):
    """Per GPU, at the pool's peak stage."""

    needed_gib: float
    capacity_gib: float
    host_gib: float | None
    """Host memory that each node needs."""
    stage: str
    parts: dict[str, float]
    """weights, gradients, optimizer, activations, logits, kv_cache, buffers, runtime."""
    frozen_gib: float = 0.0
    """Part of the weights that is held all the time and never changes: the pool's fixed share."""
    host_capacity_gib: float | None = None
    """Host memory that a plan may use of each node: the machine's within the limit; null where nothing states it."""
    stages: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Every stage by part, GiB, what is nothing left out; ``parts`` are those of the peak."""


class Pool(Strict):
    """Machines of one offer that do the same work."""

    name: str
    roles: list[str]
    serves: list[str]
    provider: str
    region: str | None
    zone: str | None
    instance_type: str
    gpu: str | None
    gpus_per_node: int
    nodes: int
    gpus: int
    pricing: str
    usd_per_hour: float
    """The whole pool, all nodes, per hour."""
    layout: LayoutChoice | None
    precision: str | None
    memory: Memory | None
    offer: str
    """Catalog id of the offer."""
    failures_per_hour: float = 0.0
    """Expected stops of the whole run per hour that this pool causes."""
    lost_per_hour: float = 0.0
    """Expected losses of its machines per hour that leave the run going."""
    faults_per_hour: float = 0.0
    """Part of both that are failures, not reclaims of spot machines."""
    term_hours: float | None = None
    """Hours that a reserved offer bills at least and in multiples of."""
    share: float | None = None
    """Part of the samples that this offer of a mixed pool takes."""
    disk_gb: float = 0.0
    """Block storage rented for all nodes: boot volumes, and what the machines' own disks do not hold."""
    disk_gib: float | None = None
    """Disk that each node needs."""


class Binding(Strict):
    """A limit or floor that one unit tighter would exclude this plan."""

    constraint: str
    value: float
    limit: float
    unit: str
    usd_per_unit: float | None = None


class Relaxation(Strict):
    """One limit moved so far that a plan exists, and that plan's price and hours."""

    constraint: str
    from_: Any = Field(alias="from")
    to: Any
    unit: str
    total_usd: float
    hours: float

    model_config = {**Strict.model_config, "populate_by_name": True}


class CatalogUsed(Strict):
    """A catalog and the day it speaks of."""

    name: str
    as_of: str


class PriceUsed(Strict):
    """A price the bill rests on."""

    offer: str
    usd_per_hour: float | None
    source: str
    as_of: str
    usd: float | None = None
    """The price where it is not hourly, in ``unit``."""
    unit: str = "USD/h"
    low: float | None = None
    high: float | None = None
    """Band over the region's zones of a spot price."""
    grade: str | None = None
    confidence: str | None = None


class ErrorBand(Strict):
    """How far the predictions may be off."""

    time: float
    """One log-sigma of the predicted hours."""
    memory: float
    """Share of memory kept free for the memory model's own error."""


class PlanProvenance(Strict):
    """What the plan rests on."""

    catalogs: list[CatalogUsed]
    prices: list[PriceUsed]
    calibration: str
    error_band: ErrorBand


class PhaseUsed(Strict):
    """Work that is done before the job, on machines of its own."""

    name: str
    model: str | None
    """The model that it makes; null where it is not for one."""
    usd: float
    """Its whole bill."""
    runs: int
    """Runs that share its result: this plan carries usd / runs."""
    expected_hours: float
    confident_hours: float
    machines: str


class PerPoint(Strict):
    """What a point of the job's target costs."""

    metric: str
    points: float
    """Between where the metric stands before the job and where it is to stand after it."""
    usd_per_point: float
    """The whole bill, every trial included, over the points."""


class Certainty(Strict):
    """How sure a plan's bill and hours are, by the time model's own error and the band of spot prices."""

    confidence: float
    """Share of runs between the low and the high end, as many below as above."""
    low_usd: float
    high_usd: float | None
    """Null where so slow a run would make no progress between two stops."""
    low_hours: float
    """As the deadline counts them."""
    high_hours: float | None
    deadline_probability: float | None = None
    """Share of runs that meet the deadline, at the predicted pace; null without a deadline."""
    spot_low_usd: float | None = None
    """The bill at the lowest price of any zone for every spot pool; null without a band."""
    spot_high_usd: float | None = None


class WorstCase(Strict):
    """The same plan if every step takes ``times`` as long as predicted."""

    times: float
    total_usd: float
    time: Time
    checkpoint: CheckpointDecision
    """Copies as they then stand: a longer run moves them later."""


class RightPlan(Strict):
    """A plan that would have been right, in short."""

    total_usd: float
    confident_hours: float
    summary: str
    same: bool
    """Whether it is the plan itself."""
    same_machines: bool = False
    """Whether it rents what the plan rents, perhaps with other layouts or decisions."""
    proven: bool = True
    """Whether its search came to its end."""


class Stressed(Strict):
    """The same plan at another pace, and the plan that would have been right then."""

    times: float
    """Every step takes this many times what is predicted."""
    total_usd: float | None
    """Null where such a slow run makes no progress between two stops."""
    expected_hours: float | None
    confident_hours: float | None
    meets_deadline: bool | None
    """Null without a deadline."""
    broken: list[str]
    """Limits and floors that the plan then breaks, by key."""
    right: RightPlan | None
    """Null where no plan keeps every limit at that pace."""
    regret_usd: float | None
    """What the plan then costs more than the right one; below 0 where it is cheaper because it breaks a limit."""


class Peak(Stressed):
    """The same plan at a heavier load: ``times`` the length or the samples; money is null where it does not fit."""

    what: Literal["length", "samples"]
    """length: responses (trajectories) are longer | samples: every step has more."""
    fits: bool
    """Whether machines and layouts can carry the load at all."""
    misfit: str | None
    """What lacks memory, and how much."""


class FrontierPoint(Strict):
    """One point of cost against time, in short."""

    confident_hours: float
    total_usd: float
    summary: str


class Plan(Strict):
    """The answer to a request, whatever its status."""

    schema_: Literal["rlopt.plan/1"] = Field("rlopt.plan/1", alias="schema")
    status: Status
    solver: SolverSummary
    cost: Cost | None
    time: Time | None
    decisions: Decisions | None
    pools: list[Pool]
    binding: list[Binding]
    relaxations: list[Relaxation | list[Relaxation]]
    warnings: list[str]
    provenance: PlanProvenance
    frontier: list[FrontierPoint] = Field(default_factory=list)
    alternatives: list[Plan] = Field(default_factory=list)
    """Proven plans that cost little more on other GPUs, at other providers or in another placement; asked for apart."""
    job: str = ""
    currency: str = "USD"
    """Currency the report prints beside USD, with ``exchange_rates``."""
    exchange_rates: dict[str, float] = Field(default_factory=dict)
    """USD per unit of each currency that was converted."""
    phases: list[PhaseUsed] = Field(default_factory=list)
    """What is done before the job; its hours lie outside the deadline."""
    storage_gib: float | None = None
    """Storage bought at its peak, what is kept free included."""
    tags: dict[str, str] = Field(default_factory=dict)
    """The job's labels, for bills and launchers."""
    per_point: PerPoint | None = None
    """What a point of ``job.target`` costs; null where the request states no target or nothing is billed."""
    usage: Usage | None = None
    """Tokens, bytes and useful arithmetic of a run, and dollars for each."""
    reasons: list[str] = Field(default_factory=list)
    """Why a preset's floor was loosened, in the requester's words."""
    certainty: Certainty | None = None
    """How sure bill and hours are; null where there is no plan."""
    worst: WorstCase | None = None
    """The plan in the worst case that `limits.robust` asks for; null without one."""
    stress: list[Stressed] = Field(default_factory=list)
    """The plan if steps take longer than predicted (``--stress``)."""
    peaks: list[Peak] = Field(default_factory=list)
    """The plan at heavier loads (``--stress-load``)."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def require(self) -> Plan:
        """Return the plan itself when it can be carried out; raise otherwise.

        Raises InfeasibleError (with the relaxations that help) or SolverError (stopped without any plan).
        """
        if self.status == "infeasible":
            raise InfeasibleError("no plan meets every limit and floor of the request", self.relaxations)
        if not self.pools:
            raise SolverError("the search stopped before any plan was found")
        return self

    def document(self) -> Mapping[str, Any]:
        """The plan as the JSON document of interface ``rlopt.plan/1``."""
        return self.model_dump(mode="json", by_alias=True)


class Frontier(Strict):
    """Cost against confident hours: plans by hours, none dominated, each proven."""

    schema_: Literal["rlopt.frontier/1"] = Field("rlopt.frontier/1", alias="schema")
    points: list[Plan]
    knee: int | None = None
    """Index of the point past which an hour saved gets dearer fastest; null for fewer than three points and where
    none stands out."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """The frontier as the JSON document of interface ``rlopt.frontier/1``."""
        return self.model_dump(mode="json", by_alias=True)
