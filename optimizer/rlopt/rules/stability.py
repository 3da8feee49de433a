"""Stability floors: group size, samples per update, informative groups, precisions, staleness, bins of the value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import Plan
from rlopt.problem import UNSCORED, Columns, Problem
from rlopt.rules.contract import Rule
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


def _group_size(plan: Plan) -> float:
    return float((plan.decisions.group_size if plan.decisions else None) or 1)


def _sizes(columns: Columns, _: Problem) -> NDArray[np.float64]:
    return columns.group_size.astype(np.float64)


def _score_precision(rank: int) -> Rule:
    """Every pass that scores, of frozen and of trained models alike."""

    def measure(plan: Plan, _: Problem) -> float:
        scored = plan.decisions.precision.score if plan.decisions else None
        return float(UNSCORED if scored is None else Precision(scored).rank)

    return Rule(
        "score_precision",
        "floors.score_precision",
        "rank",
        ">=",
        float(rank),
        lambda columns, _: columns.score_precision.astype(np.float64),
        measure,
        of_pools=True,
    )


def _value_bins(least: int) -> Rule:
    """Bins of the value model, which the way to run the job decides."""

    def amount(columns: Columns, problem: Problem) -> NDArray[np.float64]:
        bins = np.array([variant.value_bins or 0 for variant in problem.variants], dtype=np.float64)
        return np.asarray(bins[columns.variant])

    def measure(plan: Plan, _: Problem) -> float:
        decided = plan.decisions.data if plan.decisions else None
        return float((decided or {}).get("value_bins", 0))

    return Rule(
        "value_bins", "floors.value_bins", "bins", ">=", float(least), amount, measure, of_pools=True, of_group=True
    )


def rules(problem: Problem) -> list[Rule]:
    """One rule for each floor that the request sets."""
    floors, job, found = problem.request.floors, problem.request.job, []
    if floors.group_size is not None and problem.workload.generates:
        found.append(
            Rule(
                "group_size",
                "floors.group_size",
                "samples",
                ">=",
                float(floors.group_size),
                _sizes,
                lambda plan, _: _group_size(plan),
                of_pools=True,
                of_group=True,
            )
        )
    if floors.samples_per_update is not None:
        found.append(
            Rule(
                "samples_per_update",
                "floors.samples_per_update",
                "samples",
                ">=",
                float(floors.samples_per_update),
                lambda columns, p: samples_per_update(p, _sizes(columns, p)),
                lambda plan, p: float(samples_per_update(p, _group_size(plan))),
                of_pools=True,
                of_group=True,
            )
        )
    if floors.informative_groups is not None and job.pass_rate is not None:
        rate = job.pass_rate
        found.append(
            Rule(
                "informative_groups",
                "floors.informative_groups",
                "share",
                ">=",
                float(floors.informative_groups),
                lambda columns, p: informative_share(rate, _sizes(columns, p)),
                lambda plan, _: float(informative_share(rate, _group_size(plan))),
                step=0.01,
                of_pools=True,
                of_group=True,
            )
        )
    if floors.update_precision is not None:
        found.append(
            Rule(
                "update_precision",
                "floors.update_precision",
                "rank",
                ">=",
                float(Precision(floors.update_precision).rank),
                lambda columns, _: columns.update_precision.astype(np.float64),
                lambda plan, _: float(Precision(plan.decisions.precision.update).rank if plan.decisions else 0),
                of_pools=True,
            )
        )
    if floors.score_precision is not None:
        found.append(_score_precision(Precision(floors.score_precision).rank))
    if floors.value_bins is not None and any(variant.value_bins for variant in problem.variants):
        found.append(_value_bins(floors.value_bins))
    if floors.max_staleness is not None and problem.workload.generates:
        found.append(
            Rule(
                "staleness",
                "floors.max_staleness",
                "steps",
                "<=",
                float(floors.max_staleness),
                lambda columns, _: columns.staleness.astype(np.float64),
                lambda plan, _: float(plan.decisions.staleness if plan.decisions else 0),
                of_pools=True,
            )
        )
    return found
