"""Several plans in columns, and how each differs from the cheapest: in money by dimension, in hours by kind of work.

What is compared: files of requests and plans, or one request by several algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rlopt.answers.comparison import Apart, Comparison, Contender, Work
from rlopt.answers.plan import Dimension, FoundPlan, Plan
from rlopt.facts import Catalog
from rlopt.reading.calibration_file import read_calibration
from rlopt.reading.comparison import load_compared
from rlopt.reading.plan_file import is_plan, read_plan
from rlopt.reading.request_file import load_request
from rlopt.reading.rest import with_own
from rlopt.request import Request
from rlopt.studies.cheapest import cheapest
from rlopt.studies.problem import problem_of
from rlopt.units import seconds_to_hours

LEAST_HOURS = 1e-9
"""Work that takes less is none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A plan with its name, the request that it answers (none where it was saved) and keys that were left out."""

    name: str
    plan: Plan
    request: Request | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Solving:
    """How the requests of a comparison are solved: by which facts, one's own constants and which solver."""

    facts: Catalog | None = None
    calibration: str | Path | None = None
    backend: str = "pulp"

    def plan(self, request: Request) -> Plan:
        """The plan of the whole job, whatever its status."""
        if self.calibration is not None:
            request = with_own(request, read_calibration(self.calibration, self.facts), 0)
        return cheapest(problem_of(request, self.facts), self.backend)


def side_by_side(
    files: Sequence[Path], algorithms: Sequence[str], overrides: Sequence[str], solving: Solving
) -> Comparison:
    """Compare files; one alone is a request, solved for each of ``algorithms``. Raises InputError."""
    if len(files) == 1:
        variants = load_compared(files[0], algorithms, overrides)
        return compare([Entry(one.algorithm, solving.plan(one.request), one.request, one.left_out) for one in variants])
    plain = len({path.name for path in files}) == len(files)

    def entry(path: Path) -> Entry:
        name = path.name if plain else str(path)
        if is_plan(path):
            return Entry(name, read_plan(path))
        request = load_request(path)
        return Entry(name, solving.plan(request), request)

    return compare([entry(path) for path in files])


def compare(entries: Sequence[Entry]) -> Comparison:
    """Put plans side by side, whatever their status."""
    contenders = [_contender(entry) for entry in entries]
    billed = [one for one in contenders if one.total_usd is not None]
    best = min(billed, key=lambda one: one.total_usd or 0.0, default=None)
    return Comparison(
        contenders=contenders,
        cheapest=best.name if best else None,
        apart=[_apart(one, best) for one in billed if best is not None and one is not best],
    )


def _contender(entry: Entry) -> Contender:
    plan, job = entry.plan, entry.request.job if entry.request else None
    known = {
        "name": entry.name,
        "algorithm": job.algorithm if job else None,
        "status": plan.status,
        "rework_share": job.remedial_share if job else None,
        "left_out": list(entry.left_out),
    }
    if not isinstance(plan, FoundPlan):
        return Contender.model_validate(known)
    parts: dict[Dimension, list[float]] = {}
    for line in plan.cost.lines:
        parts.setdefault(line.dimension, []).append(line.usd)
    found = {
        "total_usd": plan.cost.total_usd,
        "expected_hours": plan.time.expected_hours,
        "confident_hours": plan.time.confident_hours,
        "steps": plan.time.steps,
        "step_seconds": plan.time.step_seconds,
        "usd_per_step": plan.cost.total_usd / plan.time.steps,
        "by_dimension": {dimension: math.fsum(usd) for dimension, usd in parts.items()},
        "per_point": plan.per_point,
        "work": _work(plan),
        "machines": _machines(plan),
    }
    return Contender.model_validate(known | found)


def _machines(plan: Plan) -> str:
    """Pools with GPUs and what they do: ``train 8 H100-SXM spot at aws``."""
    return " + ".join(
        f"{pool.name} {pool.gpus} {pool.gpu} {pool.pricing} at {pool.provider}" for pool in plan.pools if pool.gpus
    )


def _work(plan: FoundPlan) -> list[Work]:
    """Hours by stage and model, in the order of the plan; what is done before the job comes first, in whole."""
    before = [Work(stage=one.name, model=one.model, hours=one.expected_hours) for one in plan.phases]
    seconds: dict[tuple[str, str | None], float] = {}
    for stage in plan.time.stages:
        key = (stage.stage, stage.model)
        seconds[key] = seconds.get(key, 0.0) + stage.seconds - stage.hidden_seconds
    rows = [(key, seconds_to_hours(one * plan.time.steps)) for key, one in seconds.items()]
    of_run = [Work(stage=stage, model=model, hours=hours) for (stage, model), hours in rows if hours > LEAST_HOURS]
    return [*before, *of_run]


def _apart(one: Contender, best: Contender) -> Apart:
    dimensions = dict.fromkeys((*best.by_dimension, *one.by_dimension))
    parts = {name: one.by_dimension.get(name, 0.0) - best.by_dimension.get(name, 0.0) for name in dimensions}
    hours = {(work.stage, work.model): work.hours for work in one.work}
    against = {(work.stage, work.model): work.hours for work in best.work}
    more = [
        Work(stage=key[0], model=key[1], hours=hours.get(key, 0.0) - against.get(key, 0.0))
        for key in dict.fromkeys((*against, *hours))
    ]
    return Apart(
        name=one.name,
        more_usd=math.fsum(parts.values()),
        more_hours=(one.confident_hours or 0.0) - (best.confident_hours or 0.0),
        by_dimension=parts,
        by_work=sorted((work for work in more if work.hours != 0.0), key=lambda work: -abs(work.hours)),
    )
