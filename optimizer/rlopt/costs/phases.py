"""Phases before the job, each solved as a job of its own: its whole bill, divided among the runs that share its result.

The machines of a phase are given back before the job's are rented, and its hours lie outside the job's deadline. So
nothing that is chosen for the job changes what the phase costs, and the cheapest phase is part of the cheapest whole.
"""

from __future__ import annotations

import math

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import variant_of
from rlopt.problem import Columns, Floats, Problem
from rlopt.problem.phases import Phase
from rlopt.workloads.variants import Variant

PHASES = "earlier phases"


def phases_of(variant: Variant, problem: Problem) -> tuple[Phase, ...]:
    """Phases that one way to run the job asks for."""
    chosen = None if variant.picked is None else variant.picked.name
    return tuple(phase for phase in problem.phases if phase.option in (None, chosen))


def usd(columns: Columns, problem: Problem) -> Floats:
    """What the job pays for its phases, USD by column."""
    paid = [math.fsum(phase.carried_usd for phase in phases_of(one, problem)) for one in problem.variants]
    return np.asarray(np.array(paid)[columns.variant])


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """One line a phase."""
    found = []
    for phase in phases_of(variant_of(plan, problem), problem) if problem.phases else ():
        shared = "" if phase.runs == 1 else f" / {phase.runs} runs that share it"
        what = f"{phase.option}: " if phase.option else ""
        basis = f"{what}{phase.usd or 0.0:.2f} USD{shared}; {phase.hours:.4f} h on {phase.machines}, before the job"
        found.append(BillLine(dimension="compute", item=phase.name, kind="fixed", usd=phase.carried_usd, basis=basis))
    return found
