"""Numbers and names in plain words, the same in every report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rlopt.units import HOURS_PER_DAY, SECONDS_PER_MINUTE, hours_to_seconds
from rlopt.words import DataPrecision, Offload, Placement, PricingKind, Recompute, Sharding, StageKind

ROLES: Final[Mapping[str, str]] = {
    StageKind.SAMPLE: "generates",
    StageKind.SCORE: "scores",
    StageKind.TRAIN: "trains",
    StageKind.ENVIRONMENT: "runs the environment",
    "control": "controls the run",
    "spare": "stands ready in place of a lost node",
    StageKind.LOAD: "prepares samples",
}
STAGES: Final[Mapping[str, str]] = {
    StageKind.LOAD: "load samples",
    StageKind.SAMPLE: "generate",
    StageKind.SCORE: "score",
    StageKind.TRAIN: "train",
    StageKind.ENVIRONMENT: "environment",
    "evaluation": "evaluate",
    "likelihood": "likelihood of actions",
    "screening": "screen before storing",
    "transfer": "hand over weights",
}
DOING: Final[Mapping[str, str]] = {
    StageKind.SAMPLE: "generating",
    StageKind.SCORE: "scoring with",
    "once": "scoring, once before the first step, with",
    StageKind.TRAIN: "training",
    "transfer": "handing over",
}
MODELS: Final[Mapping[str, str]] = {"value": "value model", "reward": "reward model", "action": "action expert"}
"""Models whose name among the roles says less than their name in the field."""
BACKBONE: Final = "backbone"
"""The policy's own layers beside an action expert: they are run for its update, trained or frozen."""
PRICING: Final[Mapping[str, str]] = {
    PricingKind.ON_DEMAND: "on demand",
    PricingKind.SPOT: "spot",
    PricingKind.RESERVED: "reserved",
}
RANKS: Final[Mapping[int, str]] = {0: "fp4", 1: "fp8", 2: "bf16", 3: "fp32"}
"""Number formats by how exact they are, the customary one of each rank (``floors.update_precision``)."""
DATA_RANKS: Final[Mapping[int, str]] = {precision.rank: precision.value for precision in DataPrecision}
PLACEMENTS: Final[Mapping[str, str]] = {
    Placement.COLOCATED: "colocated: the same GPUs generate and train in turns",
    Placement.DISAGGREGATED: "disaggregated: separate GPUs generate and train, one after the other",
    Placement.ASYNC: "async: separate GPUs generate and train at the same time",
}
SHARDING: Final[Mapping[str, str]] = {
    Sharding.DDP: "a full copy on each",
    Sharding.ZERO1: "optimizer state sharded (zero1)",
    Sharding.ZERO2: "optimizer state and gradients sharded (zero2)",
    Sharding.ZERO3: "weights, gradients and optimizer state sharded (zero3)",
}
RECOMPUTE: Final[Mapping[str, str]] = {
    Recompute.NONE: "keeps all activations",
    Recompute.SELECTIVE: "recomputes some activations",
    Recompute.FULL: "recomputes all activations",
}
OFFLOAD: Final[Mapping[str, str]] = {
    Offload.OPTIMIZER: "optimizer state in host memory",
    Offload.PARAMETERS: "weights and optimizer state in host memory",
}
WRITTEN_OUT: Final = ("USD", "share", "rank", "data rank")
"""Units that `amount` writes as a part of the number."""
_WHOLE_PERCENT = 0.1
_CENT = 0.005
_LEAST_SHARE = 0.0001
_DIGITS = 4


_MILLISECOND: Final = 0.001


def usd(amount: float) -> str:
    """``$1,234.56``; what would round to nothing is ``<$0.01``, so that nothing real reads as zero."""
    sign = "-" if amount < 0 else ""
    if 0 < abs(amount) < _CENT:
        return f"{sign}<$0.01"
    return f"{sign}${abs(amount):,.2f}"


def rate(amount: float) -> str:
    """A unit price: ``$31.92``, and ``$0.0231`` where two digits would round the price away."""
    return usd(amount) if abs(amount) >= 1 or amount == 0 else f"${amount:.3g}"


def money(amount_usd: float, currency: str, exchange_rates: Mapping[str, float]) -> str:
    """Dollars, and beside them the report's own currency when it is another one with a known rate."""
    rate = exchange_rates.get(currency)
    if currency == "USD" or rate is None:
        return usd(amount_usd)
    return f"{usd(amount_usd)} ({amount_usd / rate:,.2f} {currency})"


def hours(value: float) -> str:
    """``42 min``, ``7.3 h`` or ``3.2 days (76 h)``, whichever a person would say."""
    if value < 1:
        return f"{hours_to_seconds(value) / SECONDS_PER_MINUTE:.0f} min"
    if value < 2 * HOURS_PER_DAY:
        return f"{value:.1f}".removesuffix(".0") + " h"
    return f"{value / HOURS_PER_DAY:.1f} days ({value:,.0f} h)"


def minutes(value: float) -> str:
    """``20 min``, and seconds below one minute so that nothing real reads as none."""
    return f"{value:.0f} min" if value >= 1 else seconds(value * SECONDS_PER_MINUTE)


def seconds(value: float) -> str:
    """Seconds with three significant digits, thousands separated; less than a millisecond is told as such."""
    if 0 < value < _MILLISECOND:
        return f"<{_MILLISECOND} s"
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"


def percent(share: float) -> str:
    """A share as percent: two digits below ten percent, whole numbers above."""
    if 0 < abs(share) < _LEAST_SHARE:
        return f"<{_LEAST_SHARE:.2%}"
    return f"{share:.0%}" if abs(share) >= _WHOLE_PERCENT else f"{share * 100:.2g}%"


def number(value: Any, unit: str = "") -> str:
    """A quantity of any kind with its unit, as short as it can be without losing the sense."""
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, int | float):
        text = f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    elif isinstance(value, list | tuple):
        text = listed([number(part) for part in value])
    elif value is None:
        text = "none"
    else:
        text = str(value)
    return f"{text} {_plural(value, unit)}" if unit else text


def _plural(value: Any, unit: str) -> str:
    """``2 samples``, ``1 GPU``, but ``2 h``, ``2 min`` and ``2 USD``; the unit may come in either number."""
    one = unit.removesuffix("s")
    is_word = one == "GPU" or (one.isalpha() and one.islower() and len(one) > 3)
    if not is_word:
        return unit
    return one if value == 1 else f"{one}s"


def amount(value: Any, unit: str = "") -> str:
    """A quantity of a limit or floor in its unit: shares as percent, number formats by name, money with cents."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if unit == "share" and is_number:
        return percent(value)
    if unit == "rank" and is_number:
        return RANKS.get(int(value), str(value))
    if unit == "data rank" and is_number:
        return DATA_RANKS.get(int(value), str(value))
    if unit == "USD" and is_number:
        return usd(value)
    return number(value, unit)


def reached(before: Any, after: Any, unit: str = "") -> str:
    """Where a limit has to move to, rounded so that what is written is enough."""
    both = [part for part in (before, after) if isinstance(part, int | float) and not isinstance(part, bool)]
    if len(both) < 2 or unit in ("rank", "data rank") or after == int(after):
        return amount(after, unit)
    places = 2 if unit == "USD" else max(_DIGITS - 1 - math.floor(math.log10(abs(after))), 0)
    scaled = after * 10**places
    return amount((math.ceil(scaled) if after > before else math.floor(scaled)) / 10**places, unit)


def count(value: int, one: str, many: str | None = None) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def listed(parts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def chances(confidence: float) -> str:
    """How sure: ``9 runs in 10``."""
    for out_of in (10, 20, 100, 1000):
        good = confidence * out_of
        if abs(good - round(good)) < 1e-9:
            return f"{round(good)} runs in {out_of}"
    return f"{percent(confidence)} of runs"


def machines(summary: str) -> str:
    """A plan's machines in short, ways of paying in words: ``8 H100-SXM on demand at aws``."""
    for name, words_of in PRICING.items():
        summary = summary.replace(f" {name} ", f" {words_of} ")
    return summary


def spelled(name: str) -> str:
    """A field's name as words: ``kv_cache`` becomes ``kv cache``."""
    return name.replace("_", " ")


def model(name: str, serves: Sequence[str] = ()) -> str:
    """A model by its name in the field; the policy's own layers beside an action expert that is trained with them."""
    if name == "policy" and "action" in serves:
        return BACKBONE
    return MODELS.get(name, name)


def models(serves: Sequence[str]) -> str:
    """``policy and reference``; a policy of two parts is one model: ``policy (backbone and action expert)``."""
    parts = "action" in serves
    named = [
        f"policy ({BACKBONE} and {MODELS['action']})" if parts and name == "policy" else MODELS.get(name, name)
        for name in serves
        if name != "action" or "policy" not in serves
    ]
    return listed(named)


def doing(stage: str, name: str, serves: Sequence[str]) -> str:
    """What a pool does at a stage: ``scoring with the reference``, ``training the policy``, ``generating``.

    Backbone and action expert are updated in one pass, under the policy's name.
    """
    return " ".join(filter(None, (DOING.get(stage, stage), name and f"the {MODELS.get(name, name)}")))
