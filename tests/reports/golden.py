"""Comparison with a text kept under version control.

``RLOPT_WRITE_GOLDEN=1 ./test tests/reports`` writes the texts anew; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Fail when `text` differs from the file `name`."""
    path = FOLDER / name
    if os.environ.get("RLOPT_WRITE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
