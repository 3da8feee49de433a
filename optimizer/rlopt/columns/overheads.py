"""Seconds of a step outside the stages, where every step takes longer than is predicted."""

from __future__ import annotations

from dataclasses import replace

from rlopt.problem import Problem


def slower_overheads(problem: Problem, factor: float) -> Problem:
    """The problem with ``factor`` times the seconds of every step outside the stages."""
    if factor == 1.0:
        return problem

    def times(seconds: tuple[float, float, float]) -> tuple[float, float, float]:
        return seconds[0] * factor, seconds[1] * factor, seconds[2] * factor

    later = tuple(times(seconds) for seconds in problem.later_seconds)
    return replace(problem, sync_seconds=times(problem.sync_seconds), later_seconds=later)


def late_overheads(problem: Problem) -> Problem:
    """The same by the request's worst case, which pools' confident seconds include already."""
    return slower_overheads(problem, problem.request.limits.robust.time)
