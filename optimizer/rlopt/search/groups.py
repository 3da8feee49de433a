"""Pools that may be put together: a training pool and its side pools are of one zone, variant and group size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rlopt.problem import Ints, Problem
from rlopt.table import groups


@dataclass(frozen=True, slots=True)
class Group:
    """What training pools and the pools beside them must share."""

    zone: int | Ints
    variant: int | Ints
    size: int | Ints


@dataclass(frozen=True, slots=True)
class Served:
    """Pools that may be put together: row numbers of one zone, variant and group size.

    ``score`` is None where the training pool does the scoring.
    """

    group: Group
    train: Ints
    rollout: Ints
    score: Ints | None


def served_groups(problem: Problem) -> Iterator[Served]:
    """Rows that may be put together: one zone, one variant, one group size."""
    training, rollout, scoring = problem.training, problem.rollout, problem.scoring
    sampled = groups(rollout.zone, rollout.group_size, rollout.variant)
    scored = groups(scoring.zone, scoring.group_size, scoring.variant)
    for (zone, size, variant), train in groups(training.zone, training.group_size, training.variant).items():
        here = sampled.get((zone, size, problem.variants[variant].sampler))
        own = bool(problem.variants[variant].own)
        score = scored.get((zone, size, variant)) if own else None
        if here is not None and (score is not None or not own):
            yield Served(Group(zone, variant, size), train, here, score)
