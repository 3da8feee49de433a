"""The house's own bench, outside the wheel: fits of the shipped constants, and the pages of evidence.

`python -m lab` runs it from the root of a checkout (`lab/__main__.py` lists the commands).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
MEASUREMENTS: Final = ROOT / "measurements"
