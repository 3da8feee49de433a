"""Tokens of a sequence."""

from __future__ import annotations

from dataclasses import dataclass, replace


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
    response_growth: float = 0.0
    """What the mean response is longer at the end of the run than at its start; ``response_mean`` is the average."""

    @property
    def mean(self) -> float:
        """Mean tokens of a whole sequence."""
        return self.prompt_mean + self.response_mean

    def at(self, share: float) -> Lengths:
        """Lengths when ``share`` of the run is done; maxima and percentiles stay."""
        mean = self.response_mean + self.response_growth * (share - 0.5)
        return replace(self, response_mean=mean, response_growth=0.0)

    @property
    def longest(self) -> float:
        """Tokens of the longest sequence there is."""
        return self.prompt_max + self.response_max
