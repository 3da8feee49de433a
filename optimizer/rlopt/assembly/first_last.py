"""Seconds of the first and of the last step, where responses change in length over a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlopt.assembly.pools import chosen_pools
from rlopt.pools.run_points import compose
from rlopt.problem import Columns, Problem
from rlopt.problem.detail import Estimates
from rlopt.words import ASYNC, StageKind

FIELDS = ("first_step_seconds", "last_step_seconds")


def first_and_last(columns: Columns, j: int, problem: Problem) -> dict[str, float]:
    """The plan's fields of both for joint column ``j``; none where no length changes.

    A mixed pool takes its average shares in both.
    """
    ends = problem.estimates.ends
    return {name: step_at(columns, j, problem, end) for name, end in zip(FIELDS, ends, strict=bool(ends))}


def step_at(columns: Columns, j: int, problem: Problem, estimates: Estimates) -> float:
    """Seconds of one step of joint column ``j`` with its pools as ``estimates`` take them."""
    placement, variant = int(columns.placement[j]), problem.variants[int(columns.variant[j])]
    first, *others = chosen_pools(columns, j, replace(problem, estimates=estimates))
    seconds: dict[str, float] = {}
    for one in (first, *others):
        kind = one.name.split("-")[0]  # the two offers of a mixed pool work side by side
        spent = sum(stage.seconds for stage in one.detail.stages if stage.stage != StageKind.ENVIRONMENT)
        seconds[kind] = max(seconds.get(kind, 0.0), spent)
    train = seconds[first.name]
    if variant.cpu is not None:
        train += problem.pace * variant.cpu.seconds(variant.workload, int(columns.group_size[j]))
    beside = [part for kind, part in seconds.items() if kind != first.name]
    sample = sum(beside)
    if placement == ASYNC and len(beside) > 1:
        sample = max(beside) + problem.exposed_share * min(beside)
    number = columns.variant[j : j + 1]
    return float(compose(placement, np.array([train]), np.array([sample]), problem, number)[0])
