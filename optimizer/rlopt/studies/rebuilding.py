"""The problem of a changed request: anew, or of some offers and configurations alone with the same phases before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlopt.facts import Catalog, Offer
from rlopt.pools.build import Fixed, build_problem
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.studies.configuration.fixed_problem import Build

Whole = Callable[[Request], Problem]
Only = Callable[[Offer], bool] | None


def rebuilding(problem: Problem) -> Build:
    """Problems of some offers and some configurations; what is done before the job stays what it was."""

    def build(changed: Request, known: Catalog, only: Only, held: Fixed | None) -> Problem:
        return replace(build_problem(changed, known, problem.models, held=held, only=only), phases=problem.phases)

    return build


def narrowing(problem: Problem, whole: Whole) -> Callable[[Request, Only], Problem]:
    """The problem of a changed request, ``whole``, or of some offers alone."""
    build = rebuilding(problem)
    return lambda changed, only: whole(changed) if only is None else build(changed, problem.catalog, only, None)


def holding(problem: Problem, whole: Whole) -> Callable[[Request, Fixed | None, Only], Problem]:
    """The problem of a changed request, ``whole``, or of a configuration that is held."""
    build = rebuilding(problem)
    return lambda changed, held, only: whole(changed) if held is None else build(changed, problem.catalog, only, held)
