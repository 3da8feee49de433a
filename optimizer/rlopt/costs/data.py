"""Data: new samples collected and labelled, checked and cleaned, tools, and evaluation sets. Once for all runs.

USD = new samples · (price of collecting + price of a label) / share accepted; samples checked · price of a check;
samples cleaned · price of cleaning one; tools by the month over the hours of all runs; an evaluation set
"""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import Terms, by_variant, runs, variant_of
from rlopt.costs.stored.tiers import Values
from rlopt.problem import Columns, Problem
from rlopt.units import HOURS_PER_MONTH, Money
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


def inspected_samples(problem: Problem, steps: Values) -> Values:
    """Samples that people look at: a share of those collected, of the data set or a run's prompts where none are."""
    job = problem.request.job
    if job.data.inspect is None:
        return 0.0
    return job.data.inspect.share * (job.data.collected or job.dataset_samples or job.prompts_per_step * steps)


def prices(problem: Problem) -> dict[str, float]:
    """USD by item: of a sample, of a month (tools), of the whole (evaluation set); 0 where none is given."""
    job, costs = problem.request.job, problem.request.costs
    given: dict[str, Money | None] = {
        "collection": job.data.collect_price,
        "labels": job.data.label_price,
        "inspection": None if job.data.inspect is None else job.data.inspect.price,
        "cleaning": job.data.clean_price,
        "tools": job.data.tools,
        "evaluation set": None if job.evaluation is None else job.evaluation.build_price,
    }
    return {item: 0.0 if money is None else costs.usd(money) for item, money in given.items()}


def counts(problem: Problem, steps: Values, hours: Values, cleaned: Values) -> dict[str, Values]:
    """What is paid for by item: samples, months of all runs one after the other, one evaluation set."""
    collected = float(problem.request.job.data.collected)
    return {
        "collection": collected,
        "labels": collected,
        "inspection": inspected_samples(problem, steps),
        "cleaning": cleaned,
        "tools": hours * problem.request.job.trials / HOURS_PER_MONTH,
        "evaluation set": 1.0,
    }


def terms(columns: Columns, problem: Problem) -> Terms:
    """Collecting, labels, checks, cleaning, tools and evaluation sets, USD by column."""
    cleaned = by_variant(columns, problem, lambda variant, size: cleaned_samples(problem, variant, size))
    steps, price = columns.steps.astype(np.float64), prices(problem)
    found = counts(problem, steps, columns.expected_hours, cleaned)
    return {item: np.full(len(columns), count * price[item]) for item, count in found.items()}


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """The same of a finished plan; no line where there is nothing to pay."""
    data, trials, hours = problem.request.job.data, problem.request.job.trials, plan.time.expected_hours
    cleaned = cleaned_samples(problem, variant_of(plan, problem), plan.decisions.group_size or 1)
    bought = f"{data.collected:,} samples"
    if data.accepted_share < 1.0:
        bought += f" ({data.new_samples:,} accepted, {data.accepted_share:g} of them)"
    told = {"collection": bought, "labels": bought, "tools": f"{hours:.4f} h{runs(trials)} / {HOURS_PER_MONTH:g} h"}
    unit, price = {"tools": "/month"}, prices(problem)
    return [
        BillLine(
            dimension="data",
            item=item,
            kind="fixed",
            usd=float(count) * price[item],
            basis=f"{told.get(item, _in_words(item, float(count)))} x {price[item]:g} USD{unit.get(item, '')}",
        )
        for item, count in counts(problem, plan.time.steps, hours, cleaned).items()
        if float(count) * price[item]
    ]


def _in_words(item: str, count: float) -> str:
    return "built once" if item == "evaluation set" else f"{count:,.10g} samples"
