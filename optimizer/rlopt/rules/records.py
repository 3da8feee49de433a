"""What is written down:  points of the core metrics, text of samples, precision and number of what is stored.

gap      = min(longest gap between two points, steps)                       <= floors.core_metrics.every
text     = share of samples whose full text is logged                       >= floors.text_log_rate
stored   = precision of stored images and numbers, as a rank                >= floors.data_precision
replay   = steps · prompts · K · share sampled anew · share that is stored  >= floors.replay_buffer

The request alone decides the first and the third: their amounts are the same for all columns. The rate of the text
log stands at its floor, since more of it only costs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.words import DataPrecision

NAME = "records"
Values = NDArray[np.float64] | NDArray[np.int64] | float


def gap_steps(problem: Problem, steps: Values) -> NDArray[np.float64]:
    """Most steps without a point of the core metrics; a run that ends sooner leaves no longer gap than itself."""
    return np.minimum(problem.request.job.metrics.longest_gap_steps, np.asarray(steps, dtype=np.float64))


def replay_samples(problem: Problem, steps: Values, group_size: Values) -> NDArray[np.float64]:
    """Samples that a run has stored when it ends: what is sampled anew, less what the filter drops before storage."""
    job = problem.request.job
    kept = 1.0 - job.filter.drop if job.filter.before_storage else 1.0
    per_prompt = np.asarray(steps, dtype=np.float64) * np.asarray(group_size, dtype=np.float64)
    return np.asarray(per_prompt * (job.prompts_per_step * (1.0 - job.cache_hit_rate) * kept))


def _metrics(every: int) -> Rule:
    return Rule(
        "core_metrics",
        "floors.core_metrics.every",
        "steps",
        "<=",
        float(every),
        lambda columns, problem: gap_steps(problem, columns.steps),
        lambda plan, problem: float(gap_steps(problem, plan.time.steps)),
        scope=Scope.VARIANT,
    )


def _stored(rank: int) -> Rule:
    def precision(problem: Problem) -> float:
        return float(DataPrecision(problem.request.job.data.precision).rank)

    return Rule(
        "data_precision",
        "floors.data_precision",
        "data rank",
        ">=",
        float(rank),
        lambda columns, problem: np.full(len(columns), precision(problem)),
        lambda _, problem: precision(problem),
        scope=Scope.REQUEST,
    )


def _replay(least: int) -> Rule:
    def amount(columns: Columns, problem: Problem) -> NDArray[np.float64]:
        return replay_samples(problem, columns.steps, columns.group_size)

    def measure(plan: BilledRun, problem: Problem) -> float:
        return float(replay_samples(problem, plan.time.steps, plan.decisions.group_size or 1))

    return Rule(
        "replay_buffer",
        "floors.replay_buffer",
        "trajectories",
        ">=",
        float(least),
        amount,
        measure,
        scope=Scope.VARIANT,
    )


def _text(share: float) -> Rule:
    return Rule(
        "text_log_rate",
        "floors.text_log_rate",
        "share",
        ">=",
        share,
        None,
        lambda plan, _: plan.decisions.logging.text_log_rate,
        step=0.01,
    )


def rules(problem: Problem) -> list[Rule]:
    """One rule for each floor that the request sets; a job that samples nothing holds no trajectories."""
    floors = problem.request.floors
    found = []
    if floors.core_metrics.every is not None:
        found.append(_metrics(floors.core_metrics.every))
    if floors.data_precision is not None:
        found.append(_stored(DataPrecision(floors.data_precision).rank))
    if floors.replay_buffer and problem.workload.generates:
        found.append(_replay(floors.replay_buffer))
    if floors.text_log_rate:
        found.append(_text(floors.text_log_rate))
    return found
