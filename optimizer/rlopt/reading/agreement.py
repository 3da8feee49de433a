"""Whether the keys of a request agree with each other and with the algorithm; all findings at once.

The checks read the merged tree before it becomes a `Request`, so that they speak up beside faults of
single values. Each is a small function of a `View`; `CHECKS` is the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from rlopt.request import GENERATING, ROLE_DEFAULTS, ROLES, informative_group_size
from rlopt.request.kinds import show
from rlopt.units import Money

USD: Final = "USD"
_MONEY: Final = (
    "limits.budget",
    "limits.hourly_budget",
    "costs.engineer_hour",
    "costs.vcpu_hour",
    "job.data.clean_price",
    "job.data.label_price",
)
_CURRENCY: Final = re.compile(r"\s([A-Z]{3})\s*$|\d([A-Z]{3})\s*$")
_VLA_ONLY: Final = ("action", "trajectory", "value_stride")
_VLA_NEEDS: Final = {
    "vision": "{image_size: 224, tokens_per_image: 64}",
    "action": "{head: flow, flow_steps: 10, chunk: 50, frequency: 50 Hz}",
    "trajectory": "{mean: 60s, max: 120s}",
    "environment": "{kind: simulator, instances: 16, steps_per_second: 100}",
}
_SAMPLING_ONLY: Final = {
    "cache_hit_rate": 0,
    "ppo_epochs": 1,
    "pass_rate": None,
    "filter": None,
    "environment": None,
}
_VISION_PARTS: Final = ("vision", "backbone", "embeddings", "head", "action")
_TEXT_PARTS: Final = ("backbone", "embeddings", "head")


class Finding(NamedTuple):
    """What does not agree: dotted key, what is wrong, what is allowed, one fix."""

    key: str
    message: str
    allowed: str
    fix: str


@dataclass(frozen=True, slots=True)
class View:
    """A merged tree, read by dotted key; what is missing or of another type is None."""

    tree: Mapping[str | int, Any]

    def get(self, key: str) -> Any:
        """Read any value."""
        value: Any = self.tree
        for step in key.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(step)
        return value

    def map(self, key: str) -> Mapping[Any, Any]:
        """Read a map; empty where there is none."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else {}

    def number(self, key: str) -> float | None:
        """Read a number."""
        value = self.get(key)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def algorithm(self) -> str | None:
        """The algorithm, where it is a known one."""
        value = self.get("job.algorithm")
        return value if isinstance(value, str) and value in ROLES else None


def _length_of_run(view: View) -> Iterator[Finding]:
    allowed = "exactly one of steps, epochs with dataset_samples, or convergence"
    if "job" not in view.tree:
        return
    given = [key for key in ("steps", "epochs", "convergence") if view.get(f"job.{key}") is not None]
    if len(given) > 1:
        yield Finding(
            f"job.{given[1]}", f"is given beside {given[0]}", allowed, f"delete {' or '.join(given)}"
        )
    if "epochs" in given and view.get("job.dataset_samples") is None:
        yield Finding(
            "job.epochs", "is given without dataset_samples", allowed, "add dataset_samples: 100000"
        )
    if not given and isinstance(view.get("job"), Mapping):
        fix = "add epochs: 1" if view.get("job.dataset_samples") is not None else "add steps: 600"
        yield Finding("job", "does not say how long it runs", allowed, fix)
    if view.get("job.convergence") is not None and view.algorithm not in (None, *GENERATING):
        yield Finding(
            "job.convergence",
            f"has no meaning in {view.algorithm}: there are no groups",
            "steps, or epochs with dataset_samples",
            "write steps: 600",
        )


def _roles(view: View) -> Iterator[Finding]:
    algorithm = view.algorithm
    models = view.get("job.models")
    if algorithm is None or not isinstance(models, Mapping):
        return
    roles = ROLES[algorithm]
    for role, keywords in roles.items():
        words = [*keywords, "a model"]
        value = models.get(role)
        if value is None and role not in ROLE_DEFAULTS and role != "policy":
            example = {"reward": "rule", "critic": "policy"}.get(role, "Qwen/Qwen3-32B")
            yield Finding(
                f"job.models.{role}",
                f"is missing: {algorithm} needs it",
                " | ".join(words),
                f"add {role}: {example}",
            )
        if (
            isinstance(value, str)
            and value.strip() in ("policy", "none", "rule")
            and value.strip() not in keywords
        ):
            fix = f"write {keywords[0]}" if keywords else "name a model, such as Qwen/Qwen2.5-7B-Instruct"
            yield Finding(
                f"job.models.{role}",
                f"{show(value)} cannot be the {role} of {algorithm}",
                " | ".join(words),
                fix,
            )
    for role, value in models.items():
        if role not in roles and role in _all_roles() and value not in (None, "none"):
            yield Finding(
                f"job.models.{role}",
                f"{algorithm} has no {role}",
                f"{algorithm} has {', '.join(roles)}",
                f"delete {role}",
            )
        for part in ("vlm_params", "action_params"):
            if algorithm != "vla" and isinstance(value, Mapping) and part in value:
                yield Finding(
                    f"job.models.{role}.{part}", "belongs to vla jobs", "algorithm: vla", f"delete {part}"
                )


def _all_roles() -> set[str]:
    return {role for roles in ROLES.values() for role in roles}


def _texts(view: View) -> Iterator[Finding]:
    if view.algorithm is None:
        return
    given = view.get("job.response_tokens") is not None
    if view.algorithm != "vla" and not given and isinstance(view.get("job"), Mapping):
        yield Finding(
            "job.response_tokens",
            "is missing",
            "tokens of a response: {mean, max}",
            "add response_tokens: {mean: 1500, max: 8192}",
        )
    if view.algorithm == "vla" and given:
        yield Finding(
            "job.response_tokens",
            "does not apply to vla: its output is actions",
            "job.action",
            "delete response_tokens",
        )


def _vla(view: View) -> Iterator[Finding]:
    if view.algorithm is None or not isinstance(view.get("job"), Mapping):
        return
    for key in _VLA_ONLY:
        if view.algorithm != "vla" and view.get(f"job.{key}") is not None:
            yield Finding(
                f"job.{key}", f"does not apply to {view.algorithm}", "algorithm: vla", f"delete {key}"
            )
    for key, example in _VLA_NEEDS.items():
        if view.algorithm == "vla" and view.get(f"job.{key}") is None:
            yield Finding(
                f"job.{key}", "is missing: vla needs it", f"for example {example}", f"add {key}: {example}"
            )
    kind = view.get("job.environment.kind")
    fitting = ("simulator", "robot") if view.algorithm == "vla" else ("tools",)
    if kind in ("tools", "simulator", "robot") and kind not in fitting and view.algorithm in GENERATING:
        yield Finding(
            "job.environment.kind",
            f"{kind} does not fit {view.algorithm}",
            " | ".join(fitting),
            f"write {fitting[0]}",
        )


def _sampling(view: View) -> Iterator[Finding]:
    if view.algorithm is None or view.algorithm in GENERATING:
        return
    for key, neutral in _SAMPLING_ONLY.items():
        value = view.get(f"job.{key}")
        if value is not None and value != neutral:
            yield Finding(
                f"job.{key}",
                f"does not apply to {view.algorithm}: it samples nothing",
                f"algorithms {', '.join(GENERATING)}",
                f"delete {key}",
            )
    if view.get("choices.group_size") is not None:
        yield Finding(
            "choices.group_size",
            f"does not apply to {view.algorithm}: there are no groups",
            f"algorithms {', '.join(GENERATING)}",
            "delete group_size",
        )
    placements = view.get("choices.placements")
    if isinstance(placements, list) and placements and "colocated" not in placements:
        yield Finding(
            "choices.placements",
            f"{view.algorithm} has no rollout pool to place apart",
            "[colocated]",
            "write [colocated], or delete placements",
        )


def _group_sizes(view: View) -> Iterator[Finding]:
    if view.algorithm not in GENERATING:
        return
    sizes, table = view.get("choices.group_size"), view.map("job.convergence")
    if sizes is None and not table and view.algorithm == "grpo" and _floor_of_groups(view) is None:
        yield Finding(
            "choices.group_size",
            "is missing: grpo samples in groups",
            "a list of K, a convergence table, or floors.group_size",
            "add group_size: [8, 16]",
        )
    if isinstance(sizes, list) and table and not set(sizes_of(sizes)) & set(table):
        yield Finding(
            "choices.group_size",
            f"no size of {show(sizes)} has an entry in job.convergence",
            f"sizes among {', '.join(str(k) for k in table)}",
            f"write {list(table)}",
        )


def sizes_of(value: list[Any]) -> list[int]:
    """Keep the whole numbers of a list."""
    return [int(v) for v in value if isinstance(v, (int, float)) and not isinstance(v, bool) and v == v // 1]


def _floor_of_groups(view: View) -> int | None:
    bounds = [view.number("floors.group_size")]
    share, rate = view.number("floors.informative_groups"), view.number("job.pass_rate")
    if share is not None and rate is not None and 0 < rate < 1 and 0 <= share < 1:
        bounds.append(informative_group_size(rate, share))
    whole = [int(b) for b in bounds if b is not None and 1 <= b < 1e6]
    return max(whole, default=None)


def _informative(view: View) -> Iterator[Finding]:
    share, rate = view.number("floors.informative_groups"), view.number("job.pass_rate")
    if share is None or not 0 <= share < 1:
        return
    if view.algorithm not in (None, *GENERATING):
        yield Finding(
            "floors.informative_groups",
            f"does not apply to {view.algorithm}: there are no groups",
            f"algorithms {', '.join(GENERATING)}",
            "delete informative_groups",
        )
    elif view.get("job.pass_rate") is None:
        yield Finding(
            "floors.informative_groups",
            "needs job.pass_rate",
            "job.pass_rate between 0 and 1",
            "add pass_rate: 0.4 to job",
        )
    elif rate is not None and 0 < rate < 1 and informative_group_size(rate, share) is None:
        yield Finding(
            "floors.informative_groups",
            f"{share:g} cannot be reached at pass_rate {rate:g} by any group",
            "a share that groups of up to 100000 reach",
            "lower the share",
        )


def _currencies(view: View) -> Iterator[Finding]:
    rates = view.map("costs.exchange_rates")
    named = [(key, _currency(view.get(key))) for key in _MONEY]
    currency = view.get("costs.currency")
    named.append(("costs.currency", currency if isinstance(currency, str) and len(currency) == 3 else None))
    for key, found in named:
        if found is not None and found != USD and found not in rates:
            yield Finding(
                key,
                f"is in {found}, but there is no exchange rate",
                "costs.exchange_rates with that currency",
                f"add exchange_rates: {{{found}: ... USD}} to costs",
            )
    own = rates.get(USD)
    if own is not None and str(own).split() not in (["1", USD], ["1.0", USD]):
        yield Finding("costs.exchange_rates.USD", f"{show(own)} is not one dollar", "1 USD", "delete it")


def _currency(value: Any) -> str | None:
    if isinstance(value, Money):
        return value.currency
    match = _CURRENCY.search(value) if isinstance(value, str) and len(value) < 60 else None
    return None if match is None else match[1] or match[2]


def _trained_parts(view: View) -> Iterator[Finding]:
    frozen = view.get("job.trainable.frozen")
    parts = _VISION_PARTS if view.algorithm == "vla" else _TEXT_PARTS
    if isinstance(frozen, list) and view.algorithm is not None and set(parts) <= {str(f) for f in frozen}:
        yield Finding(
            "job.trainable.frozen",
            "freezes every part: nothing is trained",
            f"some of {', '.join(parts)}",
            f"take {parts[-1]} out",
        )


def _data(view: View) -> Iterator[Finding]:
    if view.get("job.data.incremental") is True:
        if not view.number("job.data.new_samples"):
            yield Finding(
                "job.data.incremental",
                "trains on new samples only, and there are none",
                "new_samples of 1 or more",
                "add new_samples: 20000",
            )
        if view.get("job.epochs") is None:
            yield Finding(
                "job.data.incremental",
                "is given without epochs",
                "epochs with dataset_samples",
                "replace steps by epochs: 1 and dataset_samples",
            )


def _files(view: View) -> Iterator[Finding]:
    offers = view.get("choices.offers")
    if isinstance(offers, str) and not _is_file(offers):
        yield Finding("choices.offers", f"there is no file {show(offers)}", "a CSV file", "check the path")
    for role, value in view.map("job.models").items():
        if isinstance(value, str) and value.endswith(".json") and not _is_file(value):
            yield Finding(
                f"job.models.{role}",
                f"there is no file {show(value)}",
                "a Hugging Face config.json",
                "check the path; it starts at the file's own folder",
            )


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


CHECKS: Final[tuple[Callable[[View], Iterator[Finding]], ...]] = (
    _length_of_run,
    _roles,
    _texts,
    _vla,
    _sampling,
    _group_sizes,
    _informative,
    _currencies,
    _trained_parts,
    _data,
    _files,
)


def check(tree: Mapping[str | int, Any]) -> list[Finding]:
    """Run every check on a merged tree."""
    view = View(tree)
    return [finding for one in CHECKS for finding in one(view)]


def with_defaults(tree: Mapping[str | int, Any]) -> dict[str | int, Any]:
    """Write in what depends on other keys: roles that may be left out, and the group sizes.

    Group sizes, where none are named: those of the convergence table; else 1 for ppo, opd and vla; else the
    floor, because steps do not depend on K then and more samples than the floor asks for only cost more.
    """
    view, filled = View(tree), dict(tree)
    algorithm = view.algorithm
    if algorithm is None:
        return filled
    models = view.get("job.models")
    if isinstance(models, Mapping):
        roles = {role: word for role, word in ROLE_DEFAULTS.items() if role in ROLES[algorithm]}
        filled["job"] = {**view.map("job"), "models": {**roles, **models}}
    choices = view.get("choices")
    if (
        algorithm in GENERATING
        and view.get("choices.group_size") is None
        and isinstance(choices, Mapping | None)
    ):
        table = sizes_of(list(view.map("job.convergence")))
        floor = _floor_of_groups(view)
        sizes = table or ([1] if algorithm != "grpo" else [floor] if floor is not None else [])
        if sizes:
            filled["choices"] = {**(choices or {}), "group_size": sizes}
    return filled
