"""Logging: sampled text, taken in and kept.

GB = samples · mean tokens · bytes per token · text_log_rate · steps · trials; USD = GB · (ingest + price [USD/GB/h] ·
hours kept beyond the free days).
"""

from __future__ import annotations

import numpy as np

from rlopt.costs.contract import Terms, runs
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem
from rlopt.units import HOURS_PER_MONTH, bytes_to_gb, seconds_to_hours

DIMENSION = "logging"


def gb_per_sample(problem: Problem, rate: float) -> float:
    """GB of text that one sample leaves in the log, at a sampling ``rate``."""
    lengths = problem.workload.stages[-1].lengths
    tokens = lengths.mean * max(stage.per_sample for stage in problem.workload.stages)
    return bytes_to_gb(tokens * problem.request.costs.bytes_per_token * rate)


def terms(columns: Columns, problem: Problem) -> Terms:
    """The text log, USD by column. The rate stands at its floor: no more text makes a plan better."""
    per_sample = gb_per_sample(problem, problem.request.floors.text_log_rate or 0.0)
    samples = problem.workload.prompts_per_step * columns.group_size * columns.steps * problem.request.job.trials
    kept = seconds_to_hours(problem.request.costs.keep_for.logs)
    price = np.array([t.log_ingest_per_gb + t.log_gb_hour * max(kept - t.log_free_hours, 0.0) for t in problem.tariffs])
    return {"text log": samples * per_sample * price[columns.zone]}


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """The text log of a finished plan; no line where nothing is logged."""
    if plan.time is None or plan.decisions is None or plan.decisions.logging.text_log_rate == 0:
        return []
    rate = plan.decisions.logging.text_log_rate
    zone = problem.market.zones.index((plan.pools[0].provider, plan.pools[0].region))
    tariff = problem.tariffs[zone]
    samples = problem.workload.prompts_per_step * (plan.decisions.group_size or 1)
    trials = problem.request.job.trials
    gb = samples * plan.time.steps * trials * gb_per_sample(problem, rate)
    kept = seconds_to_hours(problem.request.costs.keep_for.logs)
    billed = max(kept - tariff.log_free_hours, 0.0)
    return [
        BillLine(
            dimension="logging",
            item="text log",
            kind="elastic",
            usd=gb * (tariff.log_ingest_per_gb + tariff.log_gb_hour * billed),
            basis=f"{tariff.log_name}: {samples} samples x {plan.time.steps} steps{runs(trials)} x {rate:g} logged = "
            f"{gb:.4g} GB x ({tariff.log_ingest_per_gb:g} USD/GB taken in + "
            f"{tariff.log_gb_hour * HOURS_PER_MONTH:g} USD/GB/month x {billed:g} h)",
        )
    ]
