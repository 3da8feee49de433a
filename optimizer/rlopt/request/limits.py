"""Limits: what a plan must not exceed, in how bad a case, and in which stores. A limit left out does not exist."""

from __future__ import annotations

from typing import Annotated, Literal

from rlopt.request.budgets import Budget, Budgets
from rlopt.request.choices import NamesKind
from rlopt.request.job.waiting import CutOff, Waits
from rlopt.request.values.kinds import Name, Number, Switch, Whole, WholeOrZero
from rlopt.request.values.quantities import Cash, Duration, SizeOrZero
from rlopt.strict import Strict
from rlopt.units import Money
from rlopt.words import PricingKind


class StoreLimits(Strict):
    """Facts that a store must be stated to have; disks of the machines themselves are no stores."""

    encrypted: Switch = False
    """Encrypted at rest without anything to be set up."""
    private: Switch = False
    """Reachable without the public internet."""
    countries: Annotated[tuple[str, ...] | None, NamesKind("[DE, FR]")] = None
    """Two-letter codes of countries that bytes may stand in, or any."""


class Robust(Strict):
    """Limits that must hold in a worse case than the predicted one; the bill that is minimised stays the predicted."""

    time: Annotated[float, Number(1.0, 10.0, example="1.3")] = 1.0
    """Deadline and budgets hold even if every step takes this many times what is predicted; 1 changes nothing."""


class Quota(Strict):
    """At most `max_gpus` where all given keys match; a missing key matches everything, 0 forbids."""

    provider: Name | None = None
    """Provider."""
    region: Name | None = None
    """Region."""
    gpu: Name | None = None
    """GPU type or family."""
    pricing: PricingKind | None = None
    """on_demand, spot or reserved."""
    offer: Name | None = None
    """Id of one offer, as rlopt catalog list offers shows it."""
    max_gpus: WholeOrZero
    """Most GPUs held at once."""


class Limits(Strict):
    """What a plan must not exceed."""

    deadline: Duration | None = None
    """From provisioning to the last upload of one run, in seconds; queueing counts only from `request` on."""
    deadline_from: Literal["provisioning", "request"] = "provisioning"
    """provisioning: the deadline starts with the machines | request: the wait for them (limits.wait) counts too."""
    wait: Waits = ()
    """Expected wait for machines: a duration, or rows by provider, region, gpu and pricing; the longest match holds."""
    confidence: Annotated[float, Number(0.5, 0.999, example="0.9")] = 0.9
    """Quantile of the predicted hours that the deadline is held against."""
    budget: Budget | None = None
    """The whole bill, all trials; or a map of `total` and of dimensions of the bill."""
    hourly_budget: Cash | None = None
    """The plan's rate while it runs, per hour."""
    max_gpus: Whole | None = None
    """GPUs of all pools together."""
    host_memory: SizeOrZero | None = None
    """Host memory of each node that a plan may use for anything, in bytes; the offer's when left out."""
    quotas: tuple[Quota, ...] = ()
    """Every matching row holds; what no row matches is unlimited."""
    storage: StoreLimits = StoreLimits()
    """What stores must be stated to be; what nothing states is refused."""
    cut_off: CutOff | None = None
    """When a trial is stopped early; written by `--tags-out`."""
    robust: Robust = Robust()
    """Deadline and budgets that hold even if the run is slower than predicted."""

    @property
    def total_budget(self) -> Money | None:
        """The budget of the whole bill."""
        return self.budget.total if isinstance(self.budget, Budgets) else self.budget

    @property
    def budget_parts(self) -> dict[str, Money]:
        """Budgets of single dimensions of the bill."""
        return self.budget.parts() if isinstance(self.budget, Budgets) else {}

    def with_budget(self, name: str, money: Money | None) -> Money | Budgets | None:
        """Give the budget with its total or one of its dimensions changed; a plain amount while only that is set."""
        old = self.budget if isinstance(self.budget, Budgets) else Budgets(total=self.budget)
        if name not in Budgets.model_fields:
            raise KeyError(name)
        new = old.model_copy(update={name: money})
        return new if new.parts() else new.total
