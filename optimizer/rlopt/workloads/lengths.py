"""Tokens of a sequence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of one sequence as a stage meets it: prompt (and tool output) then response; percentiles where known."""

    prompt_mean: float
    prompt_max: float
    response_mean: float
    response_max: float
    packed: bool
    prompt_p99: float | None = None
    response_p99: float | None = None

    @property
    def mean(self) -> float:
        """Mean tokens of a whole sequence."""
        return self.prompt_mean + self.response_mean

    @property
    def longest(self) -> float:
        """Tokens of the longest sequence there is."""
        return self.prompt_max + self.response_max
