"""Whether a place that docs/seeds.csv names exists: keys, rules, lines of the bill, fields of a plan, anchors.

Keys and fields are looked up in the schemas; rules, lines and values in plans of the example requests, solved with
every item of the bill switched on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from lab import ROOT
from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.errors import NotSupportedError
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.rules import rules_of
from rlopt.studies.cheapest import cheapest

_PEOPLE: Final = (
    "costs.engineer_hour=90 USD",
    "costs.setup_hours={colocated: 8, disaggregated: 12, async: 16}",
    "costs.on_call_hours_per_day=1",
)
_BILL: Final = (
    *_PEOPLE,
    "job.trials=2",
    "job.metrics.histograms=4",
    "job.metrics.traces={spans_per_step: 2000, sample_rate: 0.1}",
    "costs.dashboards={panels: 3, users: 2, price: 3 USD}",
    "job.data.new_samples=1000",
    "job.data.accepted_share=0.8",
    "job.data.collect_price=0.02 USD",
    "job.data.label_price=0.1 USD",
    "job.data.inspect={share: 0.05, price: 0.2 USD}",
    "job.data.tools=50 USD",
    "job.evaluation={every: 100, samples: 200, build_price: 500 USD}",
    "job.text_log={abnormal_share: 0.01, debug_steps: 10}",
    "job.cache={replay: 64 GiB, index: 1 GiB, transcripts: 1 GiB}",
    "job.data.versions={count: 3, changed_share: 0.1, copies: delta, raw_kept: true}",
    "job.data.backup={mode: incremental, every: 24h, copies: 3, changed_share: 0.05}",
    "job.data.stands_in={provider: gcp, region: us-central1}",
    "costs.idle={before_release: 30min, automatic: {within: 2min, setup_hours: 0.05}, volumes: 24h}",
    "floors.text_log_rate=0.1",
)
_RUNS: Final = (
    *_PEOPLE,
    "job.trials=2",
    "job.divergences=0.5",
    "job.pilots={runs: 4, share: 0.05}",
    "recovery={spare_nodes: 1, replace_wait: 1h, launcher: cosmos-rl}",
    "checkpoint.rollouts={every: 512}",
    "costs.hours_per_failure=4",
    "costs.hours_per_trial=16",
    "costs.waiting_people=0.25",
    "limits.wait=2h",
    "limits.deadline_from=request",
    "limits.cut_off={at: 0.6, metric: reward, below: 0.4, share: 0.5}",
    "limits.budget=1000000 USD",
)
_LOOSE: Final = (
    "limits.budget={total: 1000000 USD, compute: 1000000 USD, storage: 1000000 USD, network: 1000000 USD, "
    "cache: 1000000 USD, logging: 1000000 USD, operations: 1000000 USD, data: 1000000 USD}",
    "limits.hourly_budget=10000 USD",
    "floors.because=every floor is set once, none of them binds",
    "floors.group_size=1",
    "floors.score_precision=fp8",
    "floors.data_precision=jpeg75",
    "floors.core_metrics.every=100",
    "floors.max_staleness=1",
)
_ON_CPUS: Final = "choices.scoring=[cpu]"
_SMALLER: Final = "job.compression={trajectories: {ratio: 0.3, vcpu_seconds_per_gib: 5}}"
_RESERVED: Final = ("choices.pricing=[reserved]", "choices.providers=any", "limits.budget=1000000 USD")
_LOADED: Final = (
    "choices.providers=[aws]",
    "choices.data_store=[object, filesystem]",
    "limits.deadline=300h",
    "limits.budget=90000 USD",
    "job.dataset_size=5TB",
    "job.dataset_samples=200000",
    "job.data.prepare={vcpu_seconds_per_sample: 1, host_share: 0.1}",
)
EXAMPLES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("01", ()),
    ("01", _RESERVED),
    ("02", _LOADED),
    ("03", ("choices.providers=[vast]", "floors.text_log_rate=0.01")),
    ("04", ()),
    ("04", ("job.pairs={candidates: 4, judge: Qwen/Qwen2.5-7B-Instruct}",)),
    ("05", ("job.data.clean_price=0.000001 USD",)),
    ("06", ()),
    ("06", ("job.models.reward=[{model: Qwen/Qwen2.5-0.5B, accuracy: 0.9}]", "floors.reward_quality=0.9")),
    ("06", ("job.models.reward={model: Qwen/Qwen2.5-0.5B, cpu: {vcpu_seconds_per_sample: 1, vcpus: 4}}", _ON_CPUS)),
    ("06", _RUNS),
    ("07", (*_BILL, *_LOOSE)),
    ("09", ()),
    ("10", ("costs.idle.volumes=24h",)),
    ("13", ()),
    ("13", ("job.models.teacher={model: Qwen/Qwen3-32B, teacher_training: {prompts_per_step: 64, steps: 100}}",)),
    ("14", ()),
    ("14", (*_PEOPLE, "floors.value_bins=101", "choices.value_bins=[101, 201]", _SMALLER)),
    ("14", ("floors.value_params=500M", "job.action.policy_loss=ppo", "job.offline.samples=640")),
)
"""Numbers of example requests, each with what is changed in it."""


def reachable(kind: str, place: str) -> bool:
    """Whether a place of that kind exists today; a planned one never does.

    Raises
    ------
    KeyError
        For a kind that nobody knows.
    """
    return _LOOKED_UP[kind](place)


@cache
def examples() -> tuple[tuple[Problem, Plan], ...]:
    """Problems and plans of the example requests that are solved; what is not offered yet is left out of them."""
    found = []
    for number, changes in EXAMPLES:
        problem = _problem(number, changes)
        if problem is not None:
            found.append((problem, cheapest(problem, "pulp", None)))
    return tuple(found)


@cache
def documents() -> tuple[dict[str, Any], ...]:
    """The plans as JSON documents."""
    return tuple(dict(plan.document()) for _, plan in examples())


@cache
def bill_items() -> frozenset[str]:
    """Lines of the bills as ``dimension/item``."""
    return frozenset(f"{line.dimension}/{line.item}" for _, plan in examples() if plan.cost for line in plan.cost.lines)


@cache
def rule_keys() -> frozenset[str]:
    """Dotted keys of the rules that the examples' problems hold."""
    return frozenset(rule.key for problem, _ in examples() for rule in rules_of(problem))


def _problem(number: str, changes: tuple[str, ...]) -> Problem | None:
    """The problem of an example; a change that is not supported is dropped, an example that is not is None."""
    path = next((ROOT / "examples" / "requests").glob(f"{number}-*.yaml"))
    while True:
        try:
            return api.problem_of(api.load(path, changes))
        except NotSupportedError as error:
            key = str(error).partition(":")[0]
            kept = tuple(change for change in changes if not _speaks_of(change, key))
            if kept == changes:
                return None
            changes = kept


def _speaks_of(change: str, key: str) -> bool:
    name = change.partition("=")[0]
    return name == key or name.startswith(f"{key}.") or key.startswith(f"{name}.")


def _is_key(place: str) -> bool:
    """A key of the request that plans take into account; with ``key=value`` an example that is solved sets it."""
    key, _, value = place.partition("=")
    path = key.split(".")
    try:
        _, rest = _walk(Request, path)
    except KeyError:
        return False
    asked = (problem.request.model_dump(mode="json", by_alias=True) for problem, _ in examples()) if value else ()
    return not rest and (not value or any(value in map(str, _values(request, path)) for request in asked))


def _is_field(place: str) -> bool:
    """A field of the plan; behind a map, and for ``field=value``, some example's plan must hold it."""
    path, _, value = place.partition("=")
    try:
        _, rest = _walk(Plan, path.split("."))
    except KeyError:
        return False
    if not rest and not value:
        return True
    held = [found for document in documents() for found in _values(document, path.split("."))]
    return value in map(str, held) if value else bool(held)


def _walk(kind: Any, path: list[str]) -> tuple[Any, list[str]]:
    """Follow field names through models, lists and unions; what is left of the path behind a map.

    Raises
    ------
    KeyError
        With the first name that leads nowhere.
    """
    if not path:
        return kind, []
    for model in _models(kind):
        fields = {field.alias or name.rstrip("_"): field.annotation for name, field in model.model_fields.items()}
        if path[0] in fields:
            return _walk(fields[path[0]], path[1:])
    if any(get_origin(part) in (dict, Mapping) for part in _parts(kind)):
        return kind, path
    raise KeyError(path[0])


def _parts(kind: Any) -> Iterator[Any]:
    """The kind and everything it is made of."""
    yield kind
    if get_origin(kind) is not Literal:
        for part in get_args(kind):
            yield from _parts(part)


def _models(kind: Any) -> list[type[BaseModel]]:
    return [part for part in _parts(kind) if isinstance(part, type) and issubclass(part, BaseModel)]


def _values(record: Any, path: list[str]) -> Iterator[Any]:
    if isinstance(record, list):
        for item in record:
            yield from _values(item, path)
    elif not path:
        if record is not None:
            yield record
    elif isinstance(record, dict) and path[0] in record:
        yield from _values(record[path[0]], path[1:])


def _is_passage(place: str) -> bool:
    """A heading of a page, ``file#anchor``; with ``=text`` its section must hold the text."""
    address, _, text = place.partition("=")
    name, _, anchor = address.partition("#")
    page = ROOT / name
    body = sections(page.read_text(encoding="utf-8")).get(anchor) if page.is_file() else None
    return body is not None and text in body


def sections(page: str) -> dict[str, str]:
    """Text below each heading of a Markdown page, by the anchor that GitHub gives it."""
    found: dict[str, str] = {}
    for heading, body in re.findall(r"^#+ +(.+?)\n(.*?)(?=^#+ |\Z)", page, re.MULTILINE | re.DOTALL):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.setdefault(anchor, body)
    return found


_LOOKED_UP: Final[Mapping[str, Callable[[str], bool]]] = {
    "key": _is_key,
    "rule": lambda place: place in rule_keys(),
    "cost": lambda place: any(fnmatchcase(item, place) for item in bill_items()),
    "decision": _is_field,
    "report": _is_field,
    "docs": _is_passage,
    "planned": lambda _: False,
}
