"""How a measured loop splits its GPUs: sides, degrees of the trainer and of the engine."""

from __future__ import annotations

import math
from typing import Any

from rlopt.facts import Model
from rlopt.measured.loop.defaults import Recipe
from rlopt.measured.names import MeasuredMachine
from rlopt.measured.rows import MeasuredRow
from rlopt.units import GIB
from rlopt.words import Placement

MOST = 1e8
"""Counts beyond this are slips."""


def count_of(row: MeasuredRow, column: str) -> int | None:
    """A cell as a count of at least one; ``None`` where it says none."""
    value = row.number(column)
    return int(value) if value and 1 <= value < MOST else None


def sides(row: MeasuredRow, gpus: int, placement: str, assumed: list[str]) -> tuple[int, int]:
    """GPUs that train and GPUs that sample."""
    train, sample = count_of(row, "gpus_train"), count_of(row, "gpus_gen")
    if placement == Placement.COLOCATED:
        return train or gpus, sample or gpus
    if train is None and sample is None:
        assumed.append("half of the GPUs train")
        train = max(gpus // 2, 1)
    train = train or max(gpus - (sample or 0), 1)
    return train, sample or max(gpus - train, 1)


def trainer_layout(
    row: MeasuredRow, recipe: Recipe, model: Model, machine: MeasuredMachine, gpus: int, assumed: list[str]
) -> dict[str, Any] | str:
    """Degrees and micro-batch of the trainer."""
    sharded = "megatron" not in (row.text("train_backend") or str(recipe.usual("backend"))).lower()
    degrees = {name: count_of(row, f"train_{name}") for name in ("tp", "pp", "cp", "ep")}
    if sharded:
        tp, pp, cp, ep = degrees["tp"] or 1, 1, degrees["cp"] or 1, 1
    else:
        tp = degrees["tp"] or min(_power(2.0 * model.params / (float(recipe.default("tensor_gib")) * GIB)), 8, gpus)
        stages = 1 if model.experts else _power(2.0 * model.params / (tp * float(recipe.default("tensor_gib")) * GIB))
        pp, cp = degrees["pp"] or min(stages, max(gpus // tp, 1)), degrees["cp"] or 1
        ep = degrees["ep"] or (min(machine.gpus_per_node, gpus // pp) if model.experts else 1)
    if degrees["tp"] is None:
        assumed.append("training layout")
    if tp * pp * cp > gpus:
        return "its parallel degrees need more GPUs than it trains on"
    ranks = gpus // (tp * pp * cp)
    while ep > ranks * cp * tp:
        ep //= 2
    return {"tp": tp, "pp": pp, "cp": cp, "ep": max(ep, 1), "sharded": sharded,
            "micro_batch": int(recipe.usual("micro_batch"))}  # fmt: skip


def engine_degree(model: Model, machine: MeasuredMachine, recipe: Recipe, assumed: list[str]) -> int:
    """Tensor parallelism of an engine that does not state it: weights within its share of the memory."""
    assumed.append("tensor parallelism of the engine")
    return _power(2.0 * model.params / (float(recipe.default("engine_share")) * machine.device.memory_gib * GIB))


def _power(value: float) -> int:
    return int(2 ** max(0, math.ceil(math.log2(max(value, 1.0)))))
