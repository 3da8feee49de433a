"""Which framework ran a measured loop, and what its recipes do where a row does not say."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from rlopt.estimates.calibration import Calibration, calibration_dir
from rlopt.facts.files.tables import table
from rlopt.measured.rows import MeasuredRow

FILE = "loops.yaml"


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    return table(calibration_dir() / FILE)


def default(name: str) -> Any:
    """What is assumed where a row leaves a cell blank."""
    return _file()["defaults"][name]


def recipe(framework: str, key: str) -> Any:
    """What a framework's recipes do where a row does not say; ``None`` where they differ."""
    return _file()["recipes"].get(framework, {}).get(key, _file()["recipes"]["other"].get(key))


def trainer_cells(row: MeasuredRow) -> dict[str, str]:
    """Cells that the pages of a trainer state once for all their rows."""
    return dict(_file()["trainers"].get(row.text("framework").lower(), {}))


def framework_of(row: MeasuredRow, calibration: Calibration) -> str:
    """The framework of a row: the first whose pattern is found in its cells."""
    name = " ".join(row.text(column) for column in ("framework", "version"))
    text = f"{name} | {row.text('train_backend')} | {row.text('placement')} {row.text('mode')}"
    table = calibration.rl["frameworks"]
    return next(str(name) for name, cells in table.items() if re.search(cells["match"], text, re.IGNORECASE))


__all__ = ["default", "framework_of", "recipe", "trainer_cells"]
