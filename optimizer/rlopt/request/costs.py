"""What the bill needs beside catalog prices: currency, people, retention."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from rlopt.request.job.records import Dashboards, LogsTo
from rlopt.request.values.kinds import Kind, Name, NotNegative, Number, Positive, Text, is_written, refuse, show
from rlopt.request.values.quantities import Cash, Duration, DurationOrZero, Quantity
from rlopt.strict import Strict
from rlopt.units import DURATION_UNITS, SECONDS_PER_HOUR, Money
from rlopt.words import Placement

USD: Final = "USD"
DEFAULT_KEEP_FOR: Final = 720 * SECONDS_PER_HOUR
"""How long things are kept after the run when the request does not say (interface, costs)."""


def _currency(text: str) -> str:
    if len(text) != 3 or not text.isascii() or not text.isalpha() or not text.isupper():
        message = f"{show(text)} is not a currency"
        raise refuse(message, "three capital letters (ISO 4217)", "write for example USD")
    return text


def _rate(money: Money) -> Money:
    if money.currency != USD:
        message = f"the rate {money} is not in USD"
        raise refuse(message, "USD per unit of the currency", "write for example {CNY: 0.14 USD}")
    if money.amount <= 0:
        message = f"the rate {money} is not above zero"
        raise refuse(message, "USD per unit of the currency", "write for example {CNY: 0.14 USD}")
    return money


_DURATION: Final = Quantity("duration", DURATION_UNITS, "8h", low_open=False)


class HoursKind(Kind):
    """Working hours: the key names the unit, so a plain number is hours; a duration is taken as well."""

    def read(self, value: Any, info: Any) -> float:
        """Return hours."""
        if isinstance(value, str) and is_written(info):
            return _DURATION.read(value, info) / SECONDS_PER_HOUR
        return Number(0.0, example="8").read(value, info)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"anyOf": [{"type": "number", "minimum": 0}, _DURATION.schema()]}


Hours = Annotated[float, HoursKind()]
Currency = Annotated[str, Text("USD"), AfterValidator(_currency)]
Rate = Annotated[Cash, AfterValidator(_rate)]


DEFAULT_FULL_TEXT: Final = 72 * SECONDS_PER_HOUR
"""How long the text of debugged steps is kept when the request does not say: three days, an assumption."""


class SetupHours(Strict):
    """Engineer hours to set up a run, by placement."""

    colocated: Hours = 0.0
    """Hours for a colocated plan."""
    disaggregated: Hours = 0.0
    """Hours for separate pools in step."""
    async_: Hours = Field(default=0.0, alias="async")
    """Hours for separate pools out of step."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def of(self, placement: str) -> float:
        """Hours for a placement by its name."""
        return float(getattr(self, "async_" if placement == Placement.ASYNC else placement))


class KeepFor(Strict):
    """Retention after the run, in seconds."""

    checkpoints: DurationOrZero = DEFAULT_KEEP_FOR
    """Checkpoints that are still there at the end."""
    logs: DurationOrZero = DEFAULT_KEEP_FOR
    """Metrics, sampled text and the text of abnormal samples; 720 h when left out."""
    full_text: DurationOrZero = DEFAULT_FULL_TEXT
    """Full text of debugged steps (job.text_log.debug_steps); 72 h when left out, an assumption."""
    dataset: DurationOrZero = DEFAULT_KEEP_FOR
    """Data set and trajectories."""


class AutomaticRelease(Strict):
    """A script that gives machines back once a run is over."""

    within: Duration
    """Time until it has done so, in seconds."""
    setup_hours: Hours = 0.0
    """Engineer hours to set it up, once."""


class Idle(Strict):
    """Machines and disks that are paid for after a run has ended."""

    before_release: Duration | None = None
    """Time until machines are given back, in seconds; the catalog's when left out."""
    automatic: AutomaticRelease | None = None
    """Release by a script, where it may be set up: whether it pays is a decision."""
    volumes: DurationOrZero = 0.0
    """Time that disks outlive the run, in seconds."""


class Costs(Strict):
    """Prices and habits of the one who pays."""

    currency: Currency = USD
    """Currency of the report; the plan's `_usd` fields stay USD."""
    exchange_rates: dict[Currency, Rate] = Field(default_factory=dict)
    """USD per unit of each other currency; needed as soon as one appears."""
    engineer_hour: Cash | None = None
    """Price of an engineer's hour; without it people are not on the bill."""
    setup_hours: SetupHours = SetupHours()
    """Engineer hours to set up a run."""
    on_call_hours_per_day: Annotated[float, Number(0.0, 24.0, example="1")] = 0.0
    """Engineer hours for each day that the run takes."""
    hours_per_failure: Hours = 0.0
    """Engineer hours to find what broke, for each failure of a machine; reclaims of spot machines need none."""
    hours_per_trial: Hours = 0.0
    """Engineer hours of rework before each trial after the first."""
    waiting_people: NotNegative = 0.0
    """Engineer hours lost for each hour that a run waits for its machines (limits.wait)."""
    vcpu_hour: Cash | None = None
    """Price of one virtual CPU for an hour where no CPU offer fits."""
    key_requests: Cash | None = None
    """Price of 10,000 requests to a key service, one for each file written or read; without it none are billed."""
    storage_provider: Name | None = None
    """Provider whose storage prices stand in where a pool's own are unknown."""
    bytes_per_token: Positive = 4.0
    """Stored bytes of one token of text."""
    keep_for: KeepFor = KeepFor()
    """Retention after the run."""
    idle: Idle = Idle()
    """What is paid for after a run has ended."""
    dashboards: Dashboards | None = None
    """Live views that are paid by the month; none when left out."""
    logs_to: LogsTo | None = None
    """Logging service that takes the logs; that of the pool's own provider and region when left out."""

    def usd_per_unit(self, currency: str) -> float | None:
        """USD for one unit of a currency; None where the request gives no rate."""
        if currency == USD:
            return 1.0
        rate = self.exchange_rates.get(currency)
        return None if rate is None else rate.amount

    def usd(self, money: Money) -> float:
        """Convert to USD; a request that was read has a rate for every currency it names.

        Raises
        ------
        KeyError
            Where the request gives no rate.
        """
        rate = self.usd_per_unit(money.currency)
        if rate is None:
            raise KeyError(money.currency)
        return money.amount * rate
