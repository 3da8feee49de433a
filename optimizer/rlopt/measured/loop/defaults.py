"""Which framework ran a measured loop, and what its recipes do where a row does not say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rlopt.facts.calibration import Calibration
from rlopt.facts.stacks import LoopTable
from rlopt.measured.rows import MeasuredRow


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a framework's loops run where a row does not say."""

    framework: str
    table: LoopTable

    def usual(self, key: str) -> Any:
        """What its recipes do; ``None`` where they differ."""
        return self.table.recipe(self.framework, key)

    def default(self, name: str) -> Any:
        """What is assumed of any loop where a row leaves a cell blank."""
        return self.table.defaults[name]


def framework_of(row: MeasuredRow, calibration: Calibration) -> str:
    """The framework of a row: the first whose pattern is found in its cells."""
    name = " ".join(row.text(column) for column in ("framework", "version"))
    text = f"{name} | {row.text('train_backend')} | {row.text('placement')} {row.text('mode')}"
    table = calibration.rl["frameworks"]
    return next(str(name) for name, cells in table.items() if re.search(cells["match"], text, re.IGNORECASE))


__all__ = ["Recipe", "framework_of"]
