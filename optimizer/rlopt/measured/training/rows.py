"""Training rows as the arrays that the estimates take, and the throughput or step time predicted for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlopt.estimates import Hardware, Layout, ModelShape, Stack, Tokens, Training, update_seconds
from rlopt.estimates.codes import Floats, Ints
from rlopt.estimates.training.worker import Worker
from rlopt.facts import Catalog
from rlopt.facts.calibration import Calibration
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.fields import TrainingFields, read_fields

TOKENS, SECONDS = "tokens_per_s_per_gpu", "step_time_s"


@dataclass(frozen=True, slots=True)
class TrainingCases:
    """The rows of a file that can be predicted, n of them, as arrays; and what is said of all rows.

    Parameters
    ----------
    index
        Place of each case among the rows; shape (n,).
    reasons, notes
        Per row: why it is no case (empty if it is one), and what was assumed for it.
    labels
        Per case: what errors are grouped by.
    fields
        Per case: the cells it was built from.
    sequences
        Of one optimizer step, over all GPUs; shape (n,).
    """

    index: Ints
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    fields: tuple[TrainingFields, ...]
    shape: ModelShape
    training: Training
    hardware: Hardware
    layout: Layout
    stack: Stack
    tokens: Tokens
    precision: Any
    sequences: Floats

    def __len__(self) -> int:
        return len(self.index)


def cases(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> TrainingCases:
    """Rows of a training file as arrays; the rest with its reason."""
    read = [read_fields(row, catalog, calibration) for row in rows]
    index = [place for place, found in enumerate(read) if isinstance(found, TrainingFields)]
    fields = tuple(found for found in read if isinstance(found, TrainingFields))
    names = list(dict.fromkeys((f.model.name, f.model) for f in fields))
    shapes = [ModelShape.of(model) for _, model in names]
    place_of = {key: place for place, key in enumerate(names)}

    def ints(name: str) -> Ints:
        return np.array([getattr(f, name) for f in fields], dtype=np.int64)

    length = np.array([f.tokens for f in fields], dtype=np.float64)
    quantised = float(calibration.stacks.defaults["quantised_bytes"])
    parts = ("tp", "pp", "vp", "dp", "cp", "ep", "etp", "sharding", "micro_batch", "recompute", "offload")
    return TrainingCases(
        index=np.array(index, dtype=np.int64),
        reasons=tuple(found if isinstance(found, str) else "" for found in read),
        notes=tuple("" if isinstance(found, str) else ", ".join(found.assumed) for found in read),
        labels=_labels([rows[place] for place in index], fields),
        fields=fields,
        shape=ModelShape.stack(shapes, [place_of[(f.model.name, f.model)] for f in fields]),
        training=Training(
            kind=np.array(["full" if f.method == "full" else "lora" for f in fields], dtype=np.str_),
            lora_rank=ints("lora_rank"),
            base_bytes=np.array([quantised if f.method == "qlora" else 2.0 for f in fields]),
            optimizer=np.array([f.optimizer for f in fields], dtype=np.str_),
            trainable_share=np.ones(len(fields)),
            in_loop=np.zeros(len(fields), dtype=bool),
        ),
        hardware=Hardware.of(
            [(f.machine.device, f.machine.gpus_per_node, f.machine.intra, f.machine.node_gbps) for f in fields],
            calibration,
        ),
        layout=Layout(*(ints(name) for name in parts)),
        stack=Stack(
            engine=np.array([calibration.engine(f.stack.engine) for f in fields], dtype=np.int64),
            chunked_loss=np.array([f.stack.chunked_loss for f in fields], dtype=bool),
            fused_attention=np.array([f.stack.fused_attention for f in fields], dtype=bool),
            sequence_parallel=np.array([f.stack.sequence_parallel for f in fields], dtype=bool),
        ),
        tokens=Tokens(length, length, length**2, False),  # type: ignore[arg-type]
        precision=np.array([f.precision for f in fields], dtype=np.str_),
        sequences=np.array([f.global_batch for f in fields], dtype=np.float64),
    )


def _labels(rows: Sequence[MeasuredRow], fields: Sequence[TrainingFields]) -> dict[str, tuple[str, ...]]:
    every = [_label(row, one) for row, one in zip(rows, fields, strict=True)]
    return {name: tuple(label[name] for label in every) for name in (every[0] if every else ())}


def _label(row: MeasuredRow, one: TrainingFields) -> dict[str, str]:
    source = row.text("source").split("@")[0].split(":")
    repository = source[1].strip("/").split("/")[0] if source[0] in ("http", "https") else source[0]
    layout = (one.gpus, one.tp, one.pp, one.vp, one.dp, one.cp, one.ep, one.sharding)
    work = (one.micro_batch, one.global_batch, one.tokens, one.recompute, one.precision, one.adapter, one.lora_rank)
    device = one.machine.device.name
    return {
        "model": one.model.name,
        "device": device,
        "engine": one.stack.engine,
        "source": repository,
        "method": one.method,
        "architecture": "moe" if one.model.experts else "dense",
        "config": "/".join(map(str, (one.model.name, device, *layout, *work))),
        "group": "/".join((repository, one.model.name, device, one.method)),
    }


def _samples(found: TrainingCases) -> Floats:
    """Tokens of a sample on average; shape (n,)."""
    return np.array([one.sample for one in found.fields], dtype=np.float64)


def seconds(found: TrainingCases, calibration: Calibration) -> Floats:
    """Step time of every case, of samples as long as they are on average and of adapters of its kind; shape (n,)."""
    if not len(found):
        return np.zeros(0)
    length = _samples(found)
    adapters = calibration.training["adapter_factor"]
    effect = np.array([float(adapters.get(one.adapter, 1.0)) for one in found.fields])
    worker = Worker(found.shape, found.training, found.layout, found.precision, found.stack, calibration)
    tokens = Tokens(length, length, length**2, False)  # type: ignore[arg-type]
    of_terms = update_seconds(worker, found.hardware, tokens, found.sequences)
    return np.asarray(effect * of_terms)


def in_metric(found: TrainingCases, quantities: Sequence[str], step_s: Floats) -> Floats:
    """Tokens/s per GPU, or seconds of a step where that is asked; shape (n,)."""
    rate = found.sequences * _samples(found) / (step_s * found.layout.gpus)
    return np.where([quantity == SECONDS for quantity in quantities], step_s, rate)


def predict(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order: tokens/s per GPU, or the step time where the row asks for that."""
    found = cases(rows, catalog, calibration)
    quantities = [rows[place].quantity or _measured(rows[place]) for place in found.index]
    values = in_metric(found, quantities, seconds(found, calibration))
    outcomes = [RowOutcome.unsupported(reason) for reason in found.reasons]
    for case, place in enumerate(found.index):
        labels = {name: column[case] for name, column in found.labels.items()}
        good = np.isfinite(values[case]) and values[case] > 0.0
        outcomes[place] = (
            RowOutcome(float(values[case]), labels=labels, note=found.notes[place])
            if good
            else RowOutcome.unsupported("the device's peak or its network is unknown", labels)
        )
    return outcomes


def _measured(row: MeasuredRow) -> str:
    return TOKENS if row.has(TOKENS) else SECONDS


__all__ = ["TrainingCases", "cases", "in_metric", "predict", "seconds"]
