"""RL rows: what a published step was measured on, and what the estimates say about it and its stages.

A row whose job only trains (SFT, preference data, a trainer's micro-batch) is a training row under other
column names and goes to the training model (`trainer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import StepTime, loop_seconds
from rlopt.facts import Catalog
from rlopt.facts.calibration import Calibration
from rlopt.measured.loop.fields import LoopFields, read_loop
from rlopt.measured.loop.stages import LoopCases, stages_of
from rlopt.measured.loop.trainer import is_trainer, training_row
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.rows import predict as predict_training
from rlopt.words import Placement

STEP, RATE, TOKENS, HOURS = "step_time_s", "samples_per_s", "tokens_per_s_per_gpu", "total_hours"
SAMPLE, SCORE, UPDATE = "gen_time_s", "logprob_time_s", "train_time_s"
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class RlCases:
    """The loops of a file, n of them, and what is said of every other row.

    Parameters
    ----------
    index
        Place of each loop among the rows.
    reasons
        Per row: why it is no case; empty where it is one, or where it only trains.
    fields
        Per loop: the cells it was built from.
    """

    index: tuple[int, ...]
    reasons: tuple[str, ...]
    fields: tuple[LoopFields, ...]

    def __len__(self) -> int:
        return len(self.index)


def cases(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> RlCases:
    """The loops among ``rows``; the rest with its reason."""
    read = ["" if is_trainer(row) else read_loop(row, catalog, calibration) for row in rows]
    index = tuple(place for place, found in enumerate(read) if isinstance(found, LoopFields))
    return RlCases(
        index=index,
        reasons=tuple(found if isinstance(found, str) else "" for found in read),
        fields=tuple(found for found in read if isinstance(found, LoopFields)),
    )


def in_quantity(quantity: str, row: MeasuredRow, one: LoopFields, time: StepTime, case: int) -> float | str:
    """The predicted value in the unit of ``quantity``, or why it has none."""
    step = float(time.step[case])
    if quantity == STEP:
        return step
    if quantity == RATE:
        return one.sequences / step
    if quantity == TOKENS:
        return one.sequences * (one.prompt + one.response) / step / one.gpus
    if quantity == HOURS:
        steps = row.number("steps")
        return steps * step / HOUR if steps else "the number of steps is not stated"
    if one.lag or one.placement == Placement.ASYNC:
        if quantity == SAMPLE:
            return "asynchronous runs print how long they wait for samples, not how long sampling takes"
        return float((time.update + time.score)[case] if quantity == UPDATE else time.score[case])
    sample = time.sample + time.sync + time.switch if one.sampling_wakes else time.sample
    return float({SAMPLE: sample, SCORE: time.score, UPDATE: time.update}[quantity][case])


def predict(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order, in the unit of the quantity that the row asks for (a step by default)."""
    found = cases(rows, catalog, calibration)
    outcomes = [RowOutcome.unsupported(reason) for reason in found.reasons]
    trainers = [place for place, row in enumerate(rows) if is_trainer(row)]
    translated = [training_row(rows[place], calibration.loops) for place in trainers]
    known = [number for number, row in enumerate(translated) if isinstance(row, MeasuredRow)]
    answers = predict_training([row for row in translated if isinstance(row, MeasuredRow)], catalog, calibration)
    for number, answer in zip(known, answers, strict=True):
        outcomes[trainers[number]] = answer
    for place, row in zip(trainers, translated, strict=True):
        if isinstance(row, str):
            outcomes[place] = RowOutcome.unsupported(row)
    if not len(found):
        return outcomes
    prepared = stages_of(found.fields, calibration)
    time = step_times(prepared, calibration)
    for case, place in enumerate(found.index):
        one, row = found.fields[case], rows[place]
        labels, note = labels_of(one), "; ".join(one.assumed)
        value = in_quantity(row.quantity or STEP, row, one, time, case)
        if isinstance(value, str):
            outcomes[place] = RowOutcome.unsupported(value, labels)
        elif np.isfinite(value) and value > 0.0:
            outcomes[place] = RowOutcome(value, labels=labels, note=note)
        else:
            outcomes[place] = RowOutcome.unsupported("the GPU's speed or its network is not known", labels)
    return outcomes


def step_times(prepared: LoopCases, calibration: Calibration) -> StepTime:
    """Seconds of every loop's step and of its parts."""
    return loop_seconds(prepared.stages(calibration), prepared.loop(calibration), calibration)


def labels_of(one: LoopFields) -> dict[str, str]:
    """What errors of a loop are grouped by."""
    device = one.machine.device.name
    family = one.framework.removesuffix("-0.4")
    return {
        "model": one.model.name,
        "device": device,
        "engine": family,
        "source": family.partition("-")[0],
        "method": "lora" if one.lora_rank else "full",
        "architecture": "moe" if one.model.experts else "dense",
        "placement": one.placement,
        "config": f"{family}/{one.model.name}/{device}",
    }


__all__ = ["RlCases", "cases", "in_quantity", "labels_of", "predict", "step_times"]
