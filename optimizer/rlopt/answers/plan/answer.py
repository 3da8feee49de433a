"""The answer to a request, and a frontier of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from rlopt.answers.plan.bill import Cost
from rlopt.answers.plan.bindings import Binding, Relaxation
from rlopt.answers.plan.decided import Decisions
from rlopt.answers.plan.machines import Pool
from rlopt.answers.plan.outlook import Certainty, FrontierPoint, Peak, PerPoint, PhaseUsed, Stressed, WorstCase
from rlopt.answers.plan.sources import PlanProvenance
from rlopt.answers.plan.timing import Time
from rlopt.answers.usage import Usage
from rlopt.errors import InfeasibleError, SolverError
from rlopt.strict import Strict
from rlopt.words import Objective

Status = Literal["optimal", "feasible", "infeasible"]


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
    objective: Objective = "cost"
    """What was minimised."""
    bound_hours: float | None = None
    """No plan within the limits is done sooner (objective: time)."""


class Plan(Strict):
    """The answer to a request, whatever its status; one that can be carried out is a `FoundPlan`."""

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

    @model_validator(mode="wrap")
    @classmethod
    def _found(cls, value: Any, handler: ModelWrapValidatorHandler[Plan]) -> Plan:
        plan = handler(value)
        if type(plan) is not Plan or plan.cost is None or plan.time is None or plan.decisions is None:
            return plan
        return FoundPlan.model_validate(dict(plan))

    def require(self) -> FoundPlan:
        """Return the plan itself when it can be carried out; raise otherwise.

        Raises InfeasibleError (with the relaxations that help) or SolverError (stopped without any plan).
        """
        if isinstance(self, FoundPlan):
            return self
        if self.status == "infeasible":
            raise InfeasibleError("no plan meets every limit and floor of the request", self.relaxations)
        raise SolverError("the search stopped before any plan was found")

    def document(self) -> Mapping[str, Any]:
        """The plan as the JSON document of interface ``rlopt.plan/1``."""
        return self.model_dump(mode="json", by_alias=True)


class FoundPlan(Plan):
    """A plan that can be carried out: it has machines, a bill, hours and decisions."""

    cost: Cost
    time: Time
    decisions: Decisions


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
