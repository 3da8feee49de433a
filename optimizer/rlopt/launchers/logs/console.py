"""Consoles that tell a step in one line: a head with its number, and values by name after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rlopt.launchers.logs.contract import Line, Skipped, Step

CUT_OFF = "the dictionary is cut off or mixed with other output"
Values = Mapping[str, float]


@dataclass(slots=True)
class HeadedConsole:
    """Every line with the head tells a step.

    Parameters
    ----------
    head
        Its first group is the step's number.
    values
        From what follows the head to values by name; None where they cannot be read.
    step_of
        As of the launcher's contract; None where the line alone tells no step yet.
    """

    head: re.Pattern[str]
    values: Callable[[str], Values | None]
    step_of: Callable[[int, int, Values], Step | str | None]

    def feed(self, line: Line) -> Step | Skipped | None:
        """The step of the line."""
        found = self.head.search(line.text)
        if found is None:
            return None
        values = self.values(line.text[found.end() :])
        told = CUT_OFF if values is None else self.step_of(int(found[1]), line.number, values)
        return Skipped(line.number, told) if isinstance(told, str) else told

    def finish(self) -> None:
        """Nothing is left open."""
