"""Several plans in columns: what `rlopt compare` prints (schema ``rlopt.compare/1``).

Money is USD, hours are hours of one run unless a field says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.plan import Dimension, PerPoint
from rlopt.strict import Strict


class Work(Strict):
    """What one kind of work takes in a run, whichever machines do it."""

    stage: str
    """As in ``time.stages``: generate, forward (scoring), update, environment, transfer, ...; or the name of what is
    done before the job (``phases``): preference pairs, a teacher's training."""
    model: str | None
    hours: float
    """Seconds of every step together; what passes beside the step before is left out. Pools of their own may work at
    the same time, so these hours may exceed those of the run."""


class Contender(Strict):
    """One plan."""

    name: str
    """The algorithm, or the file."""
    algorithm: str | None
    """Null for a saved plan, which does not say."""
    status: str
    total_usd: float | None = None
    expected_hours: float | None = None
    confident_hours: float | None = None
    steps: int | None = None
    step_seconds: float | None = None
    usd_per_step: float | None = None
    """The whole bill over the steps of one run."""
    by_dimension: dict[Dimension, float] = Field(default_factory=dict)
    """USD; they add up to the total."""
    rework_share: float | None = None
    """Tokens trained again against forgetting, as a share of the run's own; null for a saved plan."""
    per_point: PerPoint | None = None
    work: list[Work] = Field(default_factory=list)
    machines: str = ""
    left_out: list[str] = Field(default_factory=list)
    """Keys of the file that have no meaning in this algorithm."""


class Apart(Strict):
    """How one plan differs from the cheapest."""

    name: str
    more_usd: float
    """The sum of ``by_dimension``."""
    more_hours: float
    """Confident ones."""
    by_dimension: dict[Dimension, float]
    by_work: list[Work]
    """``hours`` are more than the cheapest plan's, negative where less; the largest first."""


class Comparison(Strict):
    """Plans side by side, in the order asked for."""

    schema_: Literal["rlopt.compare/1"] = Field("rlopt.compare/1", alias="schema")
    contenders: list[Contender]
    cheapest: str | None
    """Name of the plan with the smallest bill; null where there is no plan."""
    apart: list[Apart]
    """Every other plan."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """The comparison as the JSON document of interface ``rlopt.compare/1``."""
        return self.model_dump(mode="json", by_alias=True)
