"""What goes wrong or comes before a run: collapses, pilots, waits, and the people that failures and trials take.

divergence = hours that collapses cost · rate · runs billed
pilots     = pilots · their share of a run · expected hours of a run · rate
diagnosis  = failures expected · hours per failure · hourly price
rework     = (trials - 1) · hours per trial · hourly price
waiting    = hours from the request to the machines · trials · people's hours per hour · hourly price

A failure is diagnosed whether it stops the run or not; the provider says when it reclaims a spot machine, so nobody
looks for the cause. Pilots run on the plan's own machines, one after the other, and share a run's losses to failures;
what they store and send is too little to bill. Each trial waits for its machines anew.
"""

from __future__ import annotations

from typing import Final

from rlopt.answers.plan import PlannedRun
from rlopt.columns.hours import pilot_runs
from rlopt.costs.contract import Terms, runs
from rlopt.problem import Columns, Floats, Problem

INCIDENT_PEOPLE: Final = ("diagnosis of failures", "rework between trials", "waiting people")


def incident_terms(columns: Columns, problem: Problem, rate: Floats, price: float) -> Terms:
    """USD by column; ``rate`` is what machines cost by the hour, ``price`` an engineer's hour."""
    request, costs = problem.request, problem.request.costs
    failed = columns.faults_per_hour * columns.expected_hours
    rework = (request.job.trials - 1) * costs.hours_per_trial * price
    return {
        "divergence": columns.divergence_hours * rate * request.billed_runs,
        "pilots": columns.expected_hours * rate * pilot_runs(problem),
        "diagnosis of failures": failed * (request.billed_runs * costs.hours_per_failure * price),
        "rework between trials": rework + 0.0 * failed,
        "waiting people": columns.wait_hours * (request.job.trials * costs.waiting_people * price),
    }


def incident_lines(plan: PlannedRun, problem: Problem, rate: float, price: float) -> list[tuple[str, float, str]]:
    """Item, USD and basis of each line that a finished plan has."""
    request, costs, time = problem.request, problem.request.costs, plan.time
    billed, trials, job = request.billed_runs, request.job.trials, request.job
    found = []
    if job.divergences:
        usd = time.divergence_hours * rate * billed
        text = f"{time.divergence_hours:.4f} h for {job.divergences:g} expected collapses, {_back(problem)}"
        found.append(("divergence", usd, f"{text} x {rate:.4f} USD/h{runs(billed)}"))
    if job.pilots is not None:
        usd = time.expected_hours * rate * pilot_runs(problem)
        text = f"{job.pilots.runs} runs x {job.pilots.share:g} of {time.expected_hours:.4f} h x {rate:.4f} USD/h"
        found.append(("pilots", usd, text))
    failed = sum(pool.faults_per_hour for pool in plan.pools) * time.expected_hours * billed
    if price and costs.hours_per_failure:
        text = f"{failed:.4f} failures expected x {costs.hours_per_failure:g} engineer hours x {price:g} USD/h"
        found.append(("diagnosis of failures", failed * costs.hours_per_failure * price, text))
    if price and costs.hours_per_trial and trials > 1:
        text = f"{costs.hours_per_trial:g} engineer hours x {price:g} USD/h before each trial but the first of {trials}"
        found.append(("rework between trials", (trials - 1) * costs.hours_per_trial * price, text))
    if price and costs.waiting_people and time.waiting_hours:
        usd = time.waiting_hours * trials * costs.waiting_people * price
        text = f"{time.waiting_hours:g} h of waiting{runs(trials)} x {costs.waiting_people:g} engineer hours an hour"
        found.append(("waiting people", usd, f"{text} x {price:g} USD/h"))
    return found


def _back(problem: Problem) -> str:
    """Where a collapse goes back to."""
    every = problem.request.floors.checkpoints.history_every
    return f"each back to a copy of the last {every} steps" if every else "each back to the last copy"
