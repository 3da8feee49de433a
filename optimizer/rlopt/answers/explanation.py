"""Why a plan is what it is, or why there is none, in domain words: what `rlopt explain` prints.

Field names are fixed (schema ``rlopt.explanation/1``). Money is USD, hours are confident hours of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.plan import Plan, Relaxation
from rlopt.strict import Strict

Axis = Literal["gpu", "provider", "placement", "pricing", "size"]
Verdict = Literal["dearer", "slower", "late", "limits", "memory", "facts", "unproven"]


class MovedLimit(Strict):
    """The best plan when one limit stands elsewhere; ``limit`` is null where it is left out."""

    limit: float | None
    total_usd: float
    hours: float
    value: float
    """How much of the limit that plan takes."""


class Worth(Strict):
    """What moving one limit or floor is worth, each figure the difference of two proven solves."""

    constraint: str
    value: float
    """How much of the limit the plan takes."""
    limit: float
    unit: str
    step: float
    """One unit: what ``looser`` and ``tighter`` are away from the limit."""
    usd_per_unit: float | None
    """Saved by one unit looser; null where no answer was found in time."""
    hours_per_unit: float | None
    """Hours won by one unit looser; they may be negative where the cheaper plan is slower."""
    looser: MovedLimit | None
    tighter: MovedLimit | None
    """Null where no plan keeps the tighter limit."""
    without: MovedLimit | None


class Over(Strict):
    """A limit that a plan does not keep."""

    constraint: str
    value: float
    limit: float
    unit: str


class Rival(Strict):
    """The best plan with another GPU type, provider, placement or pricing alone, or a smaller pool, and why it lost.

    Pools that are busy for less than half of a step are looked at with the next fewer GPUs of their kind, unless two
    offers share the work of one.

    ``verdict``: dearer or slower (its plan keeps every limit), late (its fastest plan misses the deadline), limits (its
    cheapest plan breaks those of ``over``), memory (nothing fits: ``missing_gib`` per GPU at ``stage``), facts (no
    candidate whose facts are known), unproven (time was up).
    """

    axis: Axis
    value: str
    verdict: Verdict
    total_usd: float | None = None
    hours: float | None = None
    machines: str = ""
    by_dimension: dict[str, float] = Field(default_factory=dict)
    """USD by dimension of its bill minus the plan's."""
    over: list[Over] = Field(default_factory=list)
    missing_gib: float | None = None
    stage: str | None = None
    note: str = ""


class Engineering(Strict):
    """A placement against the simplest that has a plan: compute saved in each run for engineer hours spent once."""

    placement: str
    simplest: str
    chosen: bool
    """Whether it is the plan's."""
    saved_usd_per_run: float
    """Compute on the simplest's bill beyond its own; negative where it takes more."""
    more_hours: float
    """Engineer hours that setting it up takes beyond the simplest's."""
    more_usd: float
    pays_after_runs: int | None
    """Runs whose savings pay for the hours; 0 where it takes none, null where nothing is saved."""


class Explanation(Strict):
    """Everything that holds a plan, or keeps one from existing."""

    schema_: Literal["rlopt.explanation/1"] = Field("rlopt.explanation/1", alias="schema")
    plan: Plan
    """As `solve` gives it, with ``binding`` priced."""
    worth: list[Worth] = Field(default_factory=list)
    rivals: list[Rival] = Field(default_factory=list)
    engineering: list[Engineering] = Field(default_factory=list)
    """Nothing where ``costs.engineer_hour`` is not given, or one placement alone has a plan."""
    changes: list[Relaxation] = Field(default_factory=list)
    """Infeasible: every single change that alone makes a plan possible, as small as can be proven, cheapest first."""
    together: list[Relaxation] = Field(default_factory=list)
    """Infeasible: what the cheapest plan without any limit exceeds; one combined change."""
    misfit: list[str] = Field(default_factory=list)
    """Where memory leaves nothing: which stage and part do not fit, and by how much."""
    complete: bool = True
    """Whether everything was looked at; False where time was up."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """The explanation as the JSON document of interface ``rlopt.explanation/1``."""
        return self.model_dump(mode="json", by_alias=True)
