"""Time that an explanation made of many searches may take in all."""

from __future__ import annotations

import time
from dataclasses import dataclass

LEAST_SECONDS = 1.0


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
