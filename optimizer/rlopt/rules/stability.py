"""Stability floors: group size, samples per update, informative groups, precisions, staleness, bins of the value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.problem import UNSCORED, Columns, Problem
from rlopt.request import Floors
from rlopt.rules.contract import Amount, Measure, Rule, Scope
from rlopt.words import Precision

NAME = "stability"


def informative_share(pass_rate: float, group_size: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Share of groups with both right and wrong samples: 1 - p^K - (1 - p)^K."""
    size = np.asarray(group_size, dtype=np.float64)
    return np.asarray(1.0 - pass_rate**size - (1.0 - pass_rate) ** size)


def samples_per_update(problem: Problem, group_size: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Samples that one optimizer update averages over: prompts · K · (1 - dropped) / updates per step."""
    job = problem.request.job
    dropped = job.filter.drop
    size = np.asarray(group_size, dtype=np.float64)
    return np.asarray(job.prompts_per_step * size * (1.0 - dropped) / job.updates_per_step)


def _group_size(plan: BilledRun) -> float:
    return float(plan.decisions.group_size or 1)


def _sizes(columns: Columns, _: Problem) -> NDArray[np.float64]:
    return columns.group_size.astype(np.float64)


def _floor(
    name: str, unit: str, least: float, amount: Amount, measure: Measure, *, scope: Scope, step: float = 1.0
) -> Rule:
    """The rule of ``floors.<name>``."""
    return Rule(name, f"floors.{name}", unit, ">=", float(least), amount, measure, step=step, scope=scope)


def _of_group_size(floors: Floors, problem: Problem) -> Iterator[Rule]:
    """What the group size decides."""
    rate, scope = problem.request.job.pass_rate, Scope.VARIANT
    if floors.group_size is not None and problem.workload.generates:
        least = floors.group_size
        yield _floor("group_size", "samples", least, _sizes, lambda plan, _: _group_size(plan), scope=scope)
    if floors.samples_per_update is not None:
        yield _floor(
            "samples_per_update",
            "samples",
            floors.samples_per_update,
            lambda columns, here: samples_per_update(here, _sizes(columns, here)),
            lambda plan, here: float(samples_per_update(here, _group_size(plan))),
            scope=scope,
        )
    if floors.informative_groups is not None and rate is not None:
        yield _floor(
            "informative_groups",
            "share",
            floors.informative_groups,
            lambda columns, here: informative_share(rate, _sizes(columns, here)),
            lambda plan, _: float(informative_share(rate, _group_size(plan))),
            scope=scope,
            step=0.01,
        )


def _of_precision(floors: Floors) -> Iterator[Rule]:
    """Precisions as ranks: of the update, and of every pass that scores, of frozen and of trained models alike."""
    if floors.update_precision is not None:
        yield _floor(
            "update_precision",
            "rank",
            Precision(floors.update_precision).rank,
            lambda columns, _: columns.update_precision.astype(np.float64),
            lambda plan, _: float(Precision(plan.decisions.precision.update).rank),
            scope=Scope.POOLS,
        )

    def scored(plan: BilledRun, _: Problem) -> float:
        precision = plan.decisions.precision.score
        return float(UNSCORED if precision is None else Precision(precision).rank)

    if floors.score_precision is not None:
        yield _floor(
            "score_precision",
            "rank",
            Precision(floors.score_precision).rank,
            lambda columns, _: columns.score_precision.astype(np.float64),
            scored,
            scope=Scope.POOLS,
        )


def _value_bins(least: int) -> Rule:
    """Bins of the value model, which the way to run the job decides."""

    def amount(columns: Columns, problem: Problem) -> NDArray[np.float64]:
        bins = np.array([variant.value_bins or 0 for variant in problem.variants], dtype=np.float64)
        return np.asarray(bins[columns.variant])

    def measure(plan: BilledRun, _: Problem) -> float:
        decided = plan.decisions.data
        return float((decided or {}).get("value_bins", 0))

    return _floor("value_bins", "bins", least, amount, measure, scope=Scope.VARIANT)


def _staleness(most: int) -> Rule:
    return Rule(
        "staleness",
        "floors.max_staleness",
        "steps",
        "<=",
        float(most),
        lambda columns, _: columns.staleness.astype(np.float64),
        lambda plan, _: float(plan.decisions.staleness),
        scope=Scope.POOLS,
    )


def rules(problem: Problem) -> list[Rule]:
    """One rule for each floor that the request sets."""
    floors = problem.request.floors
    found = [*_of_group_size(floors, problem), *_of_precision(floors)]
    if floors.value_bins is not None and any(variant.value_bins for variant in problem.variants):
        found.append(_value_bins(floors.value_bins))
    if floors.max_staleness is not None and problem.workload.generates:
        found.append(_staleness(floors.max_staleness))
    return found
