"""The whole request, frozen: what every other room reads, and what it takes from a run that has begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import ConfigDict, Field

from rlopt.request.budgets import Budgets
from rlopt.request.choices import Choices
from rlopt.request.compare import Compared
from rlopt.request.costs import Costs
from rlopt.request.floors import Floors, informative_group_size
from rlopt.request.job.job import Job
from rlopt.request.limits import Limits
from rlopt.request.recovery import CheckpointChoices, Recovery
from rlopt.request.values.key_places import KeyPlaces
from rlopt.strict import Strict
from rlopt.units import Money
from rlopt.words import Objective, Placement


class UserConstants(Strict):
    """Constants fitted on a user's own timings."""

    name: str
    as_of: str
    """Day of the fit."""
    document: str
    """JSON by room, in the form of the shipped constants."""


class Spent(Strict):
    """What a run has used up: the request beside it is the rest."""

    steps: int
    """Steps that are done."""
    total_steps: int
    hours: float
    """Since the machines were asked for."""
    usd: float | None = None
    """Paid so far; None where nobody knows. Shown, not optimised: no decision changes it."""


FILLED_IN: Final = ("presets", "reasons", "floor_origins", "constants", "spent", "source")
"""Fields of a request that reading fills in; no file sets them."""
T = TypeVar("T", bound=Strict)


class Request(Strict):
    """What the user asks, presets merged in, every value in its canonical unit."""

    version: Literal[1] = 1
    """Version of the file format."""
    objective: Objective = "cost"
    """cost: cheapest within the deadline | time: fastest within the budget."""
    job: Job
    """What is trained."""
    choices: Choices = Choices()
    """What the optimizer may pick from."""
    limits: Limits = Limits()
    """What a plan must not exceed."""
    floors: Floors = Floors()
    """What a plan must keep to."""
    costs: Costs = Costs()
    """Currency, people, retention."""
    recovery: Recovery = Recovery()
    """How the run gets over the loss of a machine."""
    checkpoint: CheckpointChoices = CheckpointChoices()
    """What is kept of unfinished work."""
    compare: Compared = Field(default_factory=dict)
    """What each algorithm of a comparison needs of its own, by its name: sections with keys that differ. No plan of the
    request itself reads it."""
    presets: tuple[str, ...] = ()
    """Presets and files that were extended, in the order they were merged."""
    reasons: tuple[str, ...] = ()
    """Why floors were loosened, one sentence each, in the requester's words."""
    floor_origins: Mapping[str, str] = Field(default_factory=dict)
    """Dotted floor to the preset that it comes from, where the file does not set it."""
    constants: UserConstants | None = None
    """Constants of your own timings in place of shipped ones; None without a calibration."""
    spent: Spent | None = None
    """What the run has used up already, where the request is the rest of one."""
    source: KeyPlaces = Field(default_factory=KeyPlaces, exclude=True, repr=False)
    """Where each key was written."""

    model_config = ConfigDict(**{**Strict.model_config, "arbitrary_types_allowed": True})

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Placements in play: all when none are named, colocated alone where nothing is generated."""
        if not self.job.generates:
            return (Placement.COLOCATED,)
        return tuple(Placement) if self.choices.placements is None else self.choices.placements

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """Group sizes in play, those without an entry in the convergence table left out."""
        sizes = self.choices.group_size or (1,)
        heads = self.action_heads or (None,)
        return tuple(size for size in sizes if any(self.job.steps_for(size, head=head) is not None for head in heads))

    @property
    def action_heads(self) -> tuple[str, ...]:
        """Heads that the policy may act with, the stated one alone where no choice is given; () without actions."""
        action = self.job.action
        if action is None:
            return ()
        return self.choices.action_head or (action.head,)

    @property
    def value_bins(self) -> tuple[int, ...]:
        """Bins of the value model in play, those without an entry in the table of steps left out; () without it."""
        value = self.job.models.value
        if value is None or not value.is_model:
            return ()
        floor, table = self.floors.value_bins, self.job.value_convergence
        bins = self.choices.value_bins or tuple(table or ()) or (() if floor is None else (floor,))
        size, heads = next(iter(self.group_sizes), None), self.action_heads or (None,)

        def known(count: int) -> bool:
            return any(self.job.steps_for(size, value_bins=count, head=head) is not None for head in heads)

        return tuple(count for count in bins if known(count))

    @property
    def group_size_floor(self) -> int | None:
        """Least K: the larger of floors.group_size and what floors.informative_groups asks for."""
        bounds = [self.floors.group_size, self.informative_floor]
        return max((bound for bound in bounds if bound is not None), default=None)

    @property
    def informative_floor(self) -> int | None:
        """Least K by floors.informative_groups and job.pass_rate; None without both."""
        share, rate = self.floors.informative_groups, self.job.pass_rate
        return None if share is None or rate is None else informative_group_size(rate, share)

    @property
    def budget_usd(self) -> float | None:
        """The budget of the whole bill in USD; None without one."""
        return self._usd(self.limits.total_budget)

    @property
    def budgets_usd(self) -> dict[str, float]:
        """Budgets of single dimensions of the bill in USD, the total left out."""
        return {name: self.costs.usd(money) for name, money in self.limits.budget_parts.items()}

    @property
    def hourly_budget_usd(self) -> float | None:
        """The hourly budget in USD; None without one."""
        return self._usd(self.limits.hourly_budget)

    @property
    def billed_runs(self) -> float:
        """Whole runs whose machines are billed: trials that are cut off count for the share that they run."""
        cut, further = self.limits.cut_off, self.job.trials - 1.0
        return 1.0 + further * (1.0 if cut is None else 1.0 - cut.share * (1.0 - cut.at))

    @property
    def dataset_bytes(self) -> float:
        """Raw size of the data set in bytes."""
        return self.job.dataset_bytes(self.costs.bytes_per_token)

    @property
    def calibration_name(self) -> str:
        """Where the constants of the estimates come from."""
        own = self.constants
        return "catalogs/calibration" if own is None else f"catalogs/calibration with {own.name} of {own.as_of}"

    def replaced(self, key: str, value: Any) -> Self:
        """Copy the request with one canonical value changed, for example ``("limits.deadline", 7200.0)``.

        Money for ``limits.budget`` is the total; budgets of dimensions stay.

        Raises
        ------
        KeyError
            Where there is no such key.
        """
        path = key.split(".")
        if path[:2] == ["limits", "budget"] and not isinstance(value, Budgets):
            path, value = path[:2], self.limits.with_budget(".".join(path[2:]) or "total", value)
        return _replaced(self, path, value)

    def _usd(self, money: Money | None) -> float | None:
        return None if money is None else self.costs.usd(money)


def _replaced(record: T, path: list[str], value: Any) -> T:
    head, *rest = path
    if head not in getattr(type(record), "model_fields", ()):
        raise KeyError(head)
    if rest:
        value = _replaced(getattr(record, head), rest, value)
    return record.model_copy(update={head: value})
