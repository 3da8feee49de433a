"""Which cells of a row are measurements: the kind of a row, and what is asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.measured.rows import MeasuredRow, MeasuredTable

TRAINING, GENERATION, RL, MEMORY = KINDS = ("training", "generation", "rl", "memory")

TRAINING_COLUMNS: Final = ("tokens_per_s_per_gpu", "step_time_s")
"""Of these the first filled one is asked: they say the same thing."""
GENERATION_COLUMNS: Final = ("output_tokens_per_s_total",)
STEP_COLUMNS: Final = ("step_time_s", "samples_per_s", "tokens_per_s_per_gpu", "total_hours")
"""Of these the first filled one is asked of an RL step: the time of a step, or what it follows from."""
STAGE_COLUMNS: Final = ("gen_time_s", "logprob_time_s", "train_time_s")
"""Parts of an RL step; each filled one is asked."""
PEAK, RESULT, FITS_QUANTITY = "peak_mem_gib", "result", "fits"

UNITS: Final[Mapping[str, str]] = {
    "tokens_per_s_per_gpu": "tokens/s per GPU",
    "step_time_s": "s",
    "output_tokens_per_s_total": "tokens/s",
    "samples_per_s": "samples/s",
    "total_hours": "h",
    "gen_time_s": "s",
    "logprob_time_s": "s",
    "train_time_s": "s",
    PEAK: "GiB",
    FITS_QUANTITY: "",
}

CELL_OF: Final[Mapping[str, str]] = {FITS_QUANTITY: RESULT}
"""Column of the measured cell where it is not called like the quantity."""


def is_rl(table: MeasuredTable) -> bool:
    """Whether the steps of this file are RL steps: it has a column K, filled or not."""
    return table.has("K")


def knows(table: MeasuredTable) -> bool:
    """Whether the header names at least one measured quantity."""
    columns = (*TRAINING_COLUMNS, *GENERATION_COLUMNS, PEAK, RESULT)
    return any(table.has(column) for column in ((*columns, *STEP_COLUMNS, *STAGE_COLUMNS) if is_rl(table) else columns))


def asked(table: MeasuredTable, row: MeasuredRow) -> Iterator[tuple[str, str]]:
    """Kind and quantity of each measurement that the row holds; nothing where it holds none.

    A row may hold several: a training run with its peak memory gives two, an RL step with the times of its
    stages one for the step and one for each stage.
    """
    yield from ((GENERATION, column) for column in GENERATION_COLUMNS if row.has(column))
    kind, columns = (RL, STEP_COLUMNS) if is_rl(table) else (TRAINING, TRAINING_COLUMNS)
    first = next((column for column in columns if row.has(column)), None)
    if first is not None:
        yield kind, first
    if is_rl(table):
        yield from ((RL, column) for column in STAGE_COLUMNS if row.has(column))
    if row.has(PEAK):
        yield MEMORY, PEAK
    if row.has(RESULT):
        yield MEMORY, FITS_QUANTITY


def kind_of_columns(table: MeasuredTable) -> str:
    """The kind that the header alone tells, for a row in which nothing was measured."""
    if any(table.has(column) for column in GENERATION_COLUMNS):
        return GENERATION
    if is_rl(table) and any(table.has(column) for column in (*STEP_COLUMNS, *STAGE_COLUMNS)):
        return RL
    if any(table.has(column) for column in TRAINING_COLUMNS):
        return TRAINING
    return MEMORY
