"""Limits: what a plan must not exceed. A limit left out does not exist."""

from __future__ import annotations

from typing import Annotated

from rlopt.request.choices import Pricing
from rlopt.request.kinds import Name, Number, Whole, WholeOrZero
from rlopt.request.quantities import Cash, Duration, SizeOrZero
from rlopt.strict import Strict


class Quota(Strict):
    """At most `max_gpus` where all given keys match; a missing key matches everything, 0 forbids."""

    provider: Name | None = None
    """Provider."""
    region: Name | None = None
    """Region."""
    gpu: Name | None = None
    """GPU type or family."""
    pricing: Pricing | None = None
    """on_demand, spot or reserved."""
    max_gpus: WholeOrZero
    """Most GPUs held at once."""


class Limits(Strict):
    """What a plan must not exceed."""

    deadline: Duration | None = None
    """From provisioning to the last upload of one run, in seconds; queueing is not included."""
    confidence: Annotated[float, Number(0.5, 0.999, example="0.9")] = 0.9
    """Quantile of the predicted hours that the deadline is held against."""
    budget: Cash | None = None
    """The whole bill, all trials."""
    hourly_budget: Cash | None = None
    """The plan's rate while it runs, per hour."""
    max_gpus: Whole | None = None
    """GPUs of all pools together."""
    host_memory: SizeOrZero | None = None
    """Host memory per node that offloading may use, in bytes; the offer's when left out."""
    quotas: tuple[Quota, ...] = ()
    """Every matching row holds; what no row matches is unlimited."""
