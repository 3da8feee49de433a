"""A configuration that somebody has, held and priced.

What is stated is held exactly, also where a search would not look; the rest takes its cheapest value. Limits that the
configuration does not keep are lifted, as few as possible.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.answers.configuration import Configuration
from rlopt.answers.evaluation import StageNeed
from rlopt.answers.plan import FoundPlan
from rlopt.assembly.chosen import Chosen
from rlopt.columns.joint import pool_rows
from rlopt.errors import NotSupportedError
from rlopt.problem import Columns, Problem
from rlopt.problem.detail import PoolDetail
from rlopt.request import Request
from rlopt.rules import rules_of
from rlopt.search.search import search
from rlopt.studies.cheapest import solve_chosen
from rlopt.studies.configuration.broken_limits import broken as keys_broken
from rlopt.studies.configuration.fixed_problem import held, narrowed, stated_rules
from rlopt.studies.configuration.published_request import without
from rlopt.studies.configuration.user_machines import UserMachines, machines_of
from rlopt.studies.configuration.widened_request import asked
from rlopt.studies.problem import part_of
from rlopt.words import ASYNC, COLOCATED


@dataclass(frozen=True, slots=True)
class PricedConfiguration:
    """A configuration as the cheapest plan that is one; ``plan`` None where none is."""

    problem: Problem
    plan: FoundPlan | None
    memory: tuple[StageNeed, ...]
    broken: tuple[str, ...]
    outside: tuple[str, ...]
    machines: UserMachines

    @property
    def breaks(self) -> tuple[str, ...]:
        """Limits and floors that the configuration does not keep."""
        return tuple(dict.fromkeys((*(key for key in self.outside if key.startswith("limits.")), *self.broken)))


def price(
    problem: Problem, config: Configuration, request: Request | None = None, backend: str = "pulp"
) -> PricedConfiguration:
    """Hold a configuration of the problem's job and price it, under another request of the job where one is given.

    Raises InputError where the configuration contradicts itself, the request or the catalogs.
    """
    request = problem.request if request is None else request
    machines = machines_of(config, request, problem.catalog)
    question = asked(config, request, machines)
    own = _built(problem, config, question.request, machines)
    more = stated_rules(own, config)
    broken = keys_broken(own, more) if _any(own) else None
    if broken is None:
        return PricedConfiguration(own, None, (), (), question.outside, machines)
    if broken:
        own = _built(problem, config, without(question.request, broken), machines)
        more = stated_rules(own, config)
    found = search(own, "cost", [*rules_of(own), *more])
    chosen = solve_chosen(own, found, "cost", backend)
    if not isinstance(chosen, Chosen):
        return PricedConfiguration(own, None, (), broken, question.outside, machines)
    return PricedConfiguration(own, chosen.plan, _memory(chosen.column, own), broken, question.outside, machines)


def _built(problem: Problem, config: Configuration, request: Request, machines: UserMachines) -> Problem:
    ids = machines.all
    try:
        narrow = part_of(problem, request, lambda offer: offer.id in ids, held(config, machines), machines.catalog)
    except NotSupportedError as error:
        size = config.decisions.group_size
        if size is None or size in request.group_sizes:
            raise
        message = f"no number of steps is known for group size {size}"
        raise config.wrong(None, "group_size", message, str(error.message), "name a size of job.convergence") from None
    return narrowed(narrow, config, machines)


def _any(problem: Problem) -> bool:
    return bool(len(problem.colocated) or (len(problem.training) and len(problem.rollout)))


def _details(column: Columns, problem: Problem) -> list[tuple[str, PoolDetail]]:
    """Every pool of a column (one row) by its name."""
    estimates, placement = problem.estimates, int(column.placement[0])
    found = []
    for pools, row in pool_rows(column, 0, problem):
        at = int(pools.estimate[row])
        if placement == COLOCATED:
            found.append(("main" if problem.workload.generates else "train", estimates.colocated_detail(at)))
        elif pools is problem.training:
            found.append(("train", estimates.training_detail(at)))
        elif pools is problem.rollout:
            found.append(("rollout", estimates.rollout_detail(at, placement == ASYNC)))
        else:
            found.append(("score", estimates.scoring_detail(at)))
    return found


def _memory(column: Columns, problem: Problem) -> tuple[StageNeed, ...]:
    """Every stage of every pool of the plan's column (one row)."""
    return tuple(
        StageNeed(
            pool=name,
            stage=stage,
            needed_gib=sum(parts.values()),
            capacity_gib=detail.capacity_gib,
            parts={part: float(value) for part, value in parts.items()},
        )
        for name, detail in _details(column, problem)
        for stage, parts in detail.by_stage.items()
    )
