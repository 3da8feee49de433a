"""Names behind the integer codes of layouts, hardware and calibration tables, and the two array types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlopt.facts.device import GENERATIONS as GENERATIONS
from rlopt.table import Floats as Floats
from rlopt.table import Ints as Ints

Values = float | NDArray[Any]
"""One value for all rows, or one a row, shape (n,)."""
Flags = bool | NDArray[np.bool_]

PLANNED_ENGINES = ("megatron", "fsdp", "torchtune")
"""Families of training stacks that plans assume: the first of the calibration's engines, in this order."""
MEGATRON, FSDP, TORCHTUNE = range(3)
