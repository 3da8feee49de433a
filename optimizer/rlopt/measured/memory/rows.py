"""What the memory model says of measured rows: their peak, or whether all stages of a configuration fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates import Calibration, kv_gib_per_token, rollout_weights_gib
from rlopt.estimates.codes import Floats
from rlopt.estimates.sampling.colocated_memory import colocated_peaks
from rlopt.estimates.training.memory import update_parts
from rlopt.estimates.training.states import States, shards, training_states
from rlopt.facts import Catalog
from rlopt.measured.memory.cases import MemoryCases, cases, margins, peaks
from rlopt.measured.memory.fits import (
    as_training_row,
    capacity_gib,
    copies,
    is_loop,
    lacks_length,
    refused,
    round_figure,
)
from rlopt.measured.outcome import FITS, OOM, RowOutcome
from rlopt.measured.quantities import FITS_QUANTITY, RESULT
from rlopt.measured.rows import MeasuredRow
from rlopt.words import Placement


def predict_fits(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order: fits or oom where that is asked, else the printed peak."""
    reasons = [refused(row) for row in rows]
    found = cases([as_training_row(row) for row in rows], catalog, calibration)
    result = [
        RowOutcome.unsupported(one or two or "not stated") for one, two in zip(reasons, found.reasons, strict=True)
    ]
    if not len(found):
        return result
    used = [rows[place] for place in found.index]
    seen, _ = peaks(found, calibration)
    beside = _beside(used, found, calibration)
    memory = np.array([capacity_gib(row, catalog) or np.nan for row in used])
    fits, needed = _fits(used, found, beside, memory, calibration)
    most = needed * (1.0 + margins(found, calibration))
    for case, place in enumerate(found.index):
        if reasons[place]:
            continue
        asked = rows[place].quantity == FITS_QUANTITY
        lacking = "the memory of a GPU is not stated" if not np.isfinite(memory[case]) else ""
        lacking = lacking or ("no length of a sequence is stated" if lacks_length(rows[place]) else "")
        if asked and lacking:
            result[place] = RowOutcome.unsupported(lacking, found.labels[case])
            continue
        if not asked and round_figure(rows[place]):
            result[place] = RowOutcome.unsupported("a round figure that may be the card's memory", found.labels[case])
            continue
        value: float | str = (FITS if fits[case] else OOM) if asked else float(seen[case] + beside[case])
        result[place] = RowOutcome(
            value,
            labels=found.labels[case],
            note=found.fields[case].note,
            needed=float(needed[case]),
            limit=float(most[case]),
        )
    return result


def _beside(rows: Sequence[MeasuredRow], found: MemoryCases, calibration: Calibration) -> Floats:
    """Other models of the loop that stay on the GPU during an update, GiB; offloaded ones don't."""
    whole = shards(found.shape, found.layout)
    held = _states(found, calibration)
    frozen = np.array([copies(row)["frozen"] for row in rows])
    trained = np.array([copies(row)["trained"] for row in rows])
    away = np.array([row.text("offload_param").lower() == "y" for row in rows])
    weights = whole.gib(2.0, found.layout.sharding == 3)
    optimizer = np.where(found.layout.offload >= 1, 0.0, held.optimizer)
    return np.where(away, 0.0, frozen * weights + trained * (held.weights + optimizer))


def _fits(
    rows: Sequence[MeasuredRow], found: MemoryCases, beside: Floats, memory: Floats, calibration: Calibration
) -> tuple[NDArray[np.bool_], Floats]:
    """Whether every stage fits, and the largest of them, GiB; shape of ``rows`` each."""
    update = update_parts(found.worker(calibration), found.tokens).total() + beside
    states = _states(found, calibration)
    colocated = np.array(
        [row.text("placement") == Placement.COLOCATED or bool(row.number("gpu_memory_utilization")) for row in rows]
    ) & np.array([is_loop(row) for row in rows])
    away = np.array([row.text("offload_param").lower() == "y" for row in rows])
    given = np.array(
        [row.number("gpu_memory_utilization") or calibration.value("memory", "engine_share_colocated") for row in rows]
    )
    tp = np.array([row.number("tp") or 1.0 for row in rows])
    ways = np.where(tp > 1, tp, np.minimum(found.layout.gpus, 8))
    weights = rollout_weights_gib(found.shape, "bf16", ways, 1, calibration)
    sequence = found.tokens.longest * kv_gib_per_token(found.shape, ways)
    swapped = np.array([row.text("offload_optimizer").lower() == "y" for row in rows])
    optimizer = np.where(swapped | (found.layout.offload >= 1), 0.0, states.optimizer)
    resident = np.where(away, 0.0, states.weights + optimizer) + beside
    both = colocated_peaks(update, resident, weights, sequence, given, memory, calibration)
    needed = np.where(colocated, np.maximum(both.update, both.sampling), update)
    fits = np.where(colocated, both.fits(memory), update <= memory)
    return fits, np.asarray(needed)


def _states(found: MemoryCases, calibration: Calibration) -> States:
    return training_states(found.shape, found.training, found.layout, calibration, found.precision, found.stack.engine)


def predict(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order. Rows with a result state loops and capacities in columns of their own."""
    judged = [row for row in rows if row.has(RESULT)]
    plain = [row for row in rows if not row.has(RESULT)]
    fits = iter(predict_fits(judged, catalog, calibration))
    others = iter(_peaks(plain, catalog, calibration))
    return [next(fits) if row.has(RESULT) else next(others) for row in rows]


def _peaks(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    found = cases(rows, catalog, calibration)
    result = [RowOutcome.unsupported(reason) for reason in found.reasons]
    if not len(found):
        return result
    seen, needed = peaks(found, calibration)
    most = needed * (1.0 + margins(found, calibration))
    for case, place in enumerate(found.index):
        result[place] = RowOutcome(
            float(seen[case]),
            labels=found.labels[case],
            note=found.fields[case].note,
            needed=float(needed[case]),
            limit=float(most[case]),
        )
    return result


__all__ = ["predict", "predict_fits"]
