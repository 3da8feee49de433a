"""Ways to run a job whose policy acts: its heads, what the value model learns first, where samples are screened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rlopt.request import Request
from rlopt.words import Placement
from rlopt.workloads.offline import offline_work
from rlopt.workloads.screening import screened_apart, screens
from rlopt.workloads.variant import Variant


def heads(request: Request) -> tuple[str | None, ...]:
    """Heads to choose from, the stated one first; (None,) where no choice is given."""
    chosen, action = request.choices.action_head, request.job.action
    if chosen is None or action is None:
        return (None,)
    return tuple(sorted(chosen, key=lambda head: head != action.head))


def prepared(request: Request, based: Variant) -> Variant:
    """The same with the value model trained on stored data first, where there are any."""
    work = offline_work(request, based.workload)
    if work is None:
        return based
    return replace(based, once=work.stages, once_roles=work.roles, once_sequences=work.sequences)


def screened(request: Request, based: Variant) -> Iterator[Variant]:
    """Values scored where samples are collected: a pool of its own in some placements, the one pool in another."""
    if not screens(request, based.workload):
        yield based
        return
    apart = tuple(placement for placement in request.placements if placement != Placement.COLOCATED)
    if Placement.COLOCATED in request.placements:
        yield replace(based, placements=(Placement.COLOCATED,))
    if apart:
        yield replace(based, workload=screened_apart(request, based.workload), placements=apart)
