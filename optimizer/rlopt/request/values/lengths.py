"""Lengths that vary: tokens of a text, durations, tool calls."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationInfo, model_validator

from rlopt.request.values.kinds import NotNegative, Positive, Whole, WholeOrZero, is_written, refuse
from rlopt.request.values.quantities import Moment, MomentOrZero
from rlopt.strict import Strict


class Length(Strict):
    """Tokens of a text; the default distribution between mean and max is the estimates' (docs)."""

    mean: NotNegative
    """Mean tokens."""
    max: WholeOrZero
    """Most tokens: the length at which sampling is cut off."""
    p99: Positive | None = None
    """99th percentile, where it is known."""

    @model_validator(mode="after")
    def _ordered(self, info: ValidationInfo) -> Length:
        if is_written(info) and not (self.mean > 0 and self.max > 0):
            message = f"mean {self.mean:g} and max {self.max} do not describe a text"
            raise refuse(message, "numbers above zero", "write for example {mean: 180, max: 1024}")
        if self.mean > self.max:
            message = f"mean {self.mean:g} exceeds max {self.max}"
            raise refuse(message, "mean at most max", f"write max: {int(-(-self.mean // 1))} or more")
        if self.p99 is not None and not self.mean <= self.p99 <= self.max:
            message = f"p99 {self.p99:g} is not between mean {self.mean:g} and max {self.max}"
            raise refuse(message, "mean <= p99 <= max", "leave p99 out or correct it")
        return self

    @property
    def over_run(self) -> Response:
        """The length that holds all the time, on average over a run."""
        return Response(mean=self.mean, max=self.max, p99=self.p99)


class Response(Length):
    """Tokens of a response, whose mean may change over the run while ``max`` and ``p99`` stay."""

    mean: NotNegative
    """Mean tokens; at the start of the run where mean_end is given."""
    mean_end: Positive | None = None
    """Mean tokens at the end of the run, towards which the mean moves evenly; left out, it stays as it is.

    For jobs that generate text: ppo, grpo and opd. Hours and bill are those of the whole run, memory is that of max.
    """

    @model_validator(mode="after")
    def _ends_in_order(self) -> Response:
        if self.mean_end is None:
            return self
        if self.mean_end > self.max:
            message = f"mean_end {self.mean_end:g} exceeds max {self.max}"
            raise refuse(message, "mean_end at most max", f"write max: {int(-(-self.mean_end // 1))} or more")
        if self.p99 is not None and self.mean_end > self.p99:
            message = f"mean_end {self.mean_end:g} exceeds p99 {self.p99:g}, which holds at every step"
            raise refuse(message, "mean_end at most p99", "leave p99 out or write that of the last steps")
        return self

    @property
    def average(self) -> float:
        """Mean tokens of all responses of a run: every step samples as many."""
        return (self.mean + self.last) / 2.0

    @property
    def last(self) -> float:
        """Mean tokens at the end of the run."""
        return self.mean if self.mean_end is None else self.mean_end

    @property
    def over_run(self) -> Response:
        """The length that holds all the time, on average over a run."""
        return Response(mean=self.average, max=self.max, p99=self.p99)

    def part(self, start: float, end: float) -> Response:
        """The length over the part of a run from the share ``start`` of its steps to ``end``."""
        if self.mean_end is None:
            return self
        first, last = (self.mean + (self.last - self.mean) * share for share in (start, end))
        return Response(mean=first, max=self.max, p99=self.p99, mean_end=last)


NO_TEXT: Final = Response(mean=0.0, max=0)
"""The response of a job that generates no text (vla)."""


class Span(Strict):
    """A duration that varies, in seconds."""

    mean: MomentOrZero
    """Mean."""
    max: Moment
    """Longest."""

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.mean > self.max:
            message = f"mean {self.mean:g} s exceeds max {self.max:g} s"
            raise refuse(message, "mean at most max", f"write max: {self.mean:g}s or longer")
        return self


class Trajectory(Span):
    """Length of one trajectory on the robot's clock, in seconds."""

    mean: Moment
    """Mean."""


class Calls(Strict):
    """Tool calls of one sample."""

    mean: NotNegative
    """Mean calls."""
    max: Whole
    """Most calls."""

    @model_validator(mode="after")
    def _ordered(self) -> Calls:
        if self.mean > self.max:
            message = f"mean {self.mean:g} exceeds max {self.max}"
            raise refuse(message, "mean at most max", f"write max: {int(-(-self.mean // 1))} or more")
        return self
