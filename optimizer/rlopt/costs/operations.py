"""Operations: what failures cost, machines idle before release, and people.

loss = (expected - failure-free hours) · rate · trials
idle = hours until machines are given back · rate · trials; by a script: its hours, and its setup once
people = (setup hours of the placement + on-call hours a day · days) · hourly price

Trials that are cut off early are billed for the hours that they run (`Request.billed_runs`). Collapses, pilots, waits
and the people that failures and trials take stand in `incidents`.
"""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BillLine, Kind, PlannedRun
from rlopt.costs.contract import Terms, runs
from rlopt.costs.incidents import INCIDENT_PEOPLE, incident_lines, incident_terms
from rlopt.problem import Columns, Floats, Problem
from rlopt.units import HOURS_PER_DAY, seconds_to_hours
from rlopt.words import Placement

DIMENSION = "operations"
BY_HAND, AUTOMATIC = "by hand", "automatic"
PEOPLE = ("setup of the release", "setup", "on call", *INCIDENT_PEOPLE)
"""Items that are hours of people: no machine bills them."""


def engineer_usd(problem: Problem) -> float:
    """USD of one engineer hour; 0 where the request gives none."""
    price = problem.request.costs.engineer_hour
    return 0.0 if price is None else problem.request.costs.usd(price)


def by_hand_hours(problem: Problem) -> float:
    """Hours that machines stand idle after a run where people give them back."""
    asked = problem.request.costs.idle.before_release
    return problem.operations.idle_minutes / 60.0 if asked is None else seconds_to_hours(asked)


def script(problem: Problem) -> tuple[float, float] | None:
    """Hours until a script has given machines back, and USD to set it up; None where there may be none."""
    automatic = problem.request.costs.idle.automatic
    if automatic is None:
        return None
    return seconds_to_hours(automatic.within), automatic.setup_hours * engineer_usd(problem)


def idle_hours(problem: Problem) -> float:
    """Least hours that machines stand idle after a run, however they are released."""
    automatic = script(problem)
    return by_hand_hours(problem) if automatic is None else min(by_hand_hours(problem), automatic[0])


def setup_hours(problem: Problem, placement: str) -> float:
    """Engineer hours to set a placement up; 0 where the request gives none."""
    return problem.request.costs.setup_hours.of(placement)


def billed_rate(columns: Columns) -> Floats:
    """USD per hour of what is paid by the hour: reserved offers bill their terms, used or idle."""
    return np.asarray(columns.usd_per_hour - columns.committed_usd_per_hour + columns.cpu_usd_per_hour)


def released_by_script(columns: Columns, problem: Problem) -> np.ndarray:
    """Where the script pays, shape (columns,)."""
    automatic = script(problem)
    if automatic is None:
        return np.zeros(len(columns), dtype=np.bool_)
    rate = billed_rate(columns) * problem.request.job.trials
    return np.asarray(automatic[0] * rate + automatic[1] < by_hand_hours(problem) * rate)


def decision(columns: Columns, j: int, problem: Problem) -> dict[str, str] | None:
    """How the machines of one column are released, in the plan's words; None where nothing was to decide."""
    if script(problem) is None:
        return None
    pays = bool(released_by_script(columns.take(slice(j, j + 1)), problem)[0])
    return {"release": AUTOMATIC if pays else BY_HAND}


def terms(columns: Columns, problem: Problem) -> Terms:
    """Loss to failures, idle machines and people, USD by column."""
    trials, rate, billed = problem.request.job.trials, billed_rate(columns), problem.request.billed_runs
    lost = columns.expected_hours - columns.failure_free_hours - columns.divergence_hours
    setup = np.array([setup_hours(problem, name) for name in Placement])
    on_call = problem.request.costs.on_call_hours_per_day or 0.0
    price, automatic = engineer_usd(problem), script(problem) or (0.0, 0.0)
    pays = released_by_script(columns, problem)
    return {
        "loss to failures": lost * rate * billed,
        "idle before release": rate * np.where(pays, automatic[0], by_hand_hours(problem)) * trials,
        "setup of the release": np.where(pays, automatic[1], 0.0),
        "setup": setup[columns.placement] * price,
        "on call": columns.expected_hours * (billed * on_call / HOURS_PER_DAY * price),
        **incident_terms(columns, problem, rate, price),
    }


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Loss to failures, idle machines and people of a finished plan."""
    trials = problem.request.job.trials
    rate = sum(pool.usd_per_hour for pool in plan.pools if pool.pricing != "reserved")
    billed = problem.request.billed_runs
    lost = plan.time.expected_hours - plan.time.failure_free_hours - plan.time.divergence_hours
    stops = sum(pool.failures_per_hour for pool in plan.pools) * plan.time.expected_hours
    left = sum(pool.lost_per_hour for pool in plan.pools) * plan.time.expected_hours
    beside = f" and {left:.3f} lost rollout machines" if left else ""
    text = f"{lost:.4f} h lost to {stops:.4f} expected stops{beside} x {rate:.4f} USD/h{runs(billed)}"
    found = [_line("loss to failures", lost * rate * billed, text)]
    decided = (plan.decisions.operations or {}).get("release", BY_HAND)
    automatic, price = script(problem), engineer_usd(problem)
    idle = by_hand_hours(problem) if decided == BY_HAND or automatic is None else automatic[0]
    text = f"{idle * 60.0:g} min until released {decided} x {rate:.4f} USD/h{runs(trials)}"
    found.append(_line("idle before release", idle * rate * trials, text))
    asked = problem.request.costs.idle.automatic
    if decided == AUTOMATIC and asked is not None and asked.setup_hours and price:
        text = f"{asked.setup_hours:g} engineer hours x {price:g} USD/h, once"
        found.append(_line("setup of the release", asked.setup_hours * price, text))
    setup = setup_hours(problem, plan.decisions.placement)
    on_call = problem.request.costs.on_call_hours_per_day or 0.0
    if price and setup:
        found.append(_line("setup", setup * price, f"{setup:g} engineer hours x {price:g} USD/h"))
    if price and on_call:
        days = plan.time.expected_hours * billed / HOURS_PER_DAY
        text = f"{days:.3f} days x {on_call:g} engineer hours a day x {price:g} USD/h"
        found.append(_line("on call", days * on_call * price, text))
    return found + [_line(*line) for line in incident_lines(plan, problem, rate, price)]


def _line(item: str, usd: float, basis: str, kind: Kind = "hidden") -> BillLine:
    return BillLine(dimension="operations", item=item, kind=kind, usd=usd, basis=basis)
