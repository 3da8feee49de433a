"""Time that a search may take, and an explanation made of many searches in all."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

LEAST_SECONDS = 1.0


@dataclass(slots=True)
class TimeLimit:
    """When one search gives up (`time.perf_counter`); ``passed`` then says that there is no proof."""

    ends: float = math.inf
    passed: bool = False

    @staticmethod
    def of(seconds: float) -> TimeLimit:
        """A limit that is reached in ``seconds``."""
        return TimeLimit(time.perf_counter() + seconds)

    def over(self) -> bool:
        """Whether time is up, now or at an earlier question."""
        self.passed = self.passed or time.perf_counter() > self.ends
        return self.passed

    def shorten(self, seconds: float) -> None:
        """Leave no more than ``seconds``."""
        self.ends = min(self.ends, time.perf_counter() + seconds)


@dataclass(slots=True)
class Clock:
    """Seconds left for the whole explanation; a smaller change is looked for only while there are any."""

    ends: float
    exact: bool = False
    """Whether a change is made smaller until one unit less is proven not to do."""
    complete: bool = True
    """Whether every search so far ended by itself."""

    @staticmethod
    def of(seconds: float, exact: bool = False) -> Clock:
        """A clock that runs out in ``seconds``."""
        return Clock(time.perf_counter() + seconds, exact)

    @property
    def left(self) -> float:
        """Seconds for one more search, at least a few: a search that stops early still has what it found."""
        return max(self.ends - time.perf_counter(), LEAST_SECONDS)

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return time.perf_counter() > self.ends

    def saw(self, complete: bool) -> None:
        """Take note of a search that ended, or was stopped."""
        self.complete &= complete
