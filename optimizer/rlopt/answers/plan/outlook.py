"""How sure a plan is, what else was possible, and what would be right if the models were wrong."""

from __future__ import annotations

from typing import Literal

from rlopt.answers.plan.decided import CheckpointDecision
from rlopt.answers.plan.timing import Time
from rlopt.strict import Strict


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
