"""Golden LP texts: compared with a file, written anew where RLOPT_WRITE_GOLDEN=1 says so."""

from __future__ import annotations

import os
from pathlib import Path

from rlopt.program import Program, as_lp


def matches(program: Program, path: Path) -> None:
    """Assert that ``program`` reads as ``path`` does, number by number."""
    text = as_lp(program)
    if os.environ.get("RLOPT_WRITE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing: write it with RLOPT_WRITE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8")
