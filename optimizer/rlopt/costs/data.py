"""Data: labels of new samples, and cleaning where it is decided. Once for all runs.

USD = new samples · price of a label; samples cleaned · price of cleaning one
"""

from __future__ import annotations

import numpy as np

from rlopt.costs.contract import Terms, by_variant, variant_of
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem
from rlopt.units import Money
from rlopt.workloads.variants import Variant

DIMENSION = "data"


def cleaned_samples(problem: Problem, variant: Variant, group_size: int) -> int:
    """Samples that are cleaned: the new ones alone where training is incremental, else the whole data set.

    Without a size of the data set every prompt of a run is a new sample.
    """
    job = problem.request.job
    if not variant.cleaned or job.data.cleaned:
        return 0
    if job.data.incremental:
        return job.data.new_samples
    return job.dataset_samples or job.prompts_per_step * variant.steps[group_size]


def terms(columns: Columns, problem: Problem) -> Terms:
    """Labels and cleaning, USD by column."""
    data = problem.request.job.data
    labels = data.new_samples * _usd(problem, data.label_price)
    cleaned = by_variant(columns, problem, lambda variant, size: cleaned_samples(problem, variant, size))
    return {"labels": np.full(len(columns), labels), "cleaning": cleaned * _usd(problem, data.clean_price)}


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """Labels and cleaning of a finished plan; no line where there are none."""
    if plan.decisions is None:
        return []
    data, variant = problem.request.job.data, variant_of(plan, problem)
    cleaned = cleaned_samples(problem, variant, plan.decisions.group_size or 1)
    found = []
    for item, count, money in (("labels", data.new_samples, data.label_price), ("cleaning", cleaned, data.clean_price)):
        price = _usd(problem, money)
        if count and price:
            basis = f"{count:,} samples x {price:g} USD"
            found.append(BillLine(dimension="data", item=item, kind="fixed", usd=count * price, basis=basis))
    return found


def _usd(problem: Problem, money: Money | None) -> float:
    return 0.0 if money is None else problem.request.costs.usd(money)
