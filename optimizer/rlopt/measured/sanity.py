"""Cells that cannot be true, whatever the model: a slip of the file, not a question for it."""

from __future__ import annotations

import math
from typing import Final

from rlopt.measured.rows import MeasuredRow

LARGEST: Final = 1e9
"""No count or length of a run comes near this."""
AT_LEAST_ONE: Final = (
    "layers", "hidden", "heads", "kv_heads", "ffn_hidden", "vocab", "gpus", "gpus_per_node", "tp", "pp", "dp",
    "cp", "gen_tp", "train_tp", "train_pp", "train_cp", "micro_batch", "global_batch", "seq_len", "output_len",
    "response_len", "response_len_max", "response_len_mean", "batch_or_concurrency", "prompts_per_step", "K",
    "global_train_batch", "steps",
)  # fmt: skip
"""Counts of which a run has one or more; a blank cell is not stated."""
ONE_OR_NONE: Final = ("gpus_train", "gpus_gen", "vp", "ep", "train_ep", "input_len", "prompt_len", "lora_rank")
"""Counts of which some files write nought for none."""
AMOUNTS: Final = ("params_b", "active_params_b", "gpu_mem_gib")
"""What need not be whole."""
SHARES: Final = ("gpu_memory_utilization",)
_BOUNDS: Final = (
    (AT_LEAST_ONE, 1.0, LARGEST, False),
    (ONE_OR_NONE, 1.0, LARGEST, True),
    (AMOUNTS, 0.0, LARGEST, True),
    (SHARES, 0.0, 1.0, True),
)
"""Columns, their least and largest value, and whether nought may stand for none."""


def slip(row: MeasuredRow) -> str:
    """Name the first cell that cannot be true and its value; empty where all may be."""
    for columns, least, most, none in _BOUNDS:
        for column in columns:
            number = _number(row.text(column))
            if number is not None and not least <= number <= most and not (none and number == 0.0):
                return f"{column} cannot be {row.text(column)[:40]}"
    return ""


def _number(cell: str) -> float | None:
    """The cell as a number, without end too; ``None`` for texts, which may mean something."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if math.isnan(number) else number
