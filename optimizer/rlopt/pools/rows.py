"""Rows behind the pools' ``estimate`` numbers: which line of which table a pool is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One training candidate for one group size and update precision."""

    table: int
    row: int
    group_size: int
    precision: str


@dataclass(frozen=True, slots=True)
class SamplingRow:
    """One rollout candidate for one group size and number of environment instances (by its place in the list)."""

    row: int
    group_size: int
    environment: int
    table: int = 0


@dataclass(frozen=True, slots=True)
class ScoringRow:
    """One scoring candidate for one group size."""

    table: int
    row: int
    group_size: int


@dataclass(frozen=True, slots=True)
class ColocatedRow:
    """A training candidate with the engine it samples with."""

    train: TrainingRow
    tp: int
    ep: int
    rollout: str
    environment: int = 0
