"""What comes before a run: the wait for its machines, and pilots; and how much of it counts within the deadline."""

from __future__ import annotations

import numpy as np

from rlopt.columns.side_pools import every_pool
from rlopt.problem import Floats, Pools, Problem, SidePools


def pilot_runs(problem: Problem) -> float:
    """Length of all pilots together, in runs of the job."""
    pilots = problem.request.job.pilots
    return 0.0 if pilots is None else pilots.runs * pilots.share


def within_deadline(problem: Problem, hours: Floats, wait: Floats | float) -> Floats:
    """Hours that the deadline is held against, from those of a run and of the wait for its machines."""
    pilots = problem.request.job.pilots
    if pilots is not None and pilots.before_deadline:
        hours = hours * (1.0 + pilot_runs(problem))
    return hours + wait if problem.request.limits.deadline_from == "request" else hours


def wait_hours(problem: Problem, first: Pools, beside: SidePools) -> Floats:
    """Longest wait of any pool with GPUs, shape (columns,): a run starts when all its machines are there."""
    if problem.wait_hours is None:
        return np.zeros(len(first))
    return np.maximum(problem.wait_hours[first.offer], wait_beside(problem, beside))


def wait_beside(problem: Problem, beside: SidePools) -> Floats:
    """The same of the pools beside the training pool alone, shape (rows,)."""
    found = np.zeros(len(beside))
    if problem.wait_hours is None:
        return found
    for here, pools, rows in every_pool(problem, beside):
        found[here] = np.maximum(found[here], problem.wait_hours[pools.offer[rows]])
    return found
