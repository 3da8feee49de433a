"""Rows as the arrays that the memory estimates take, and their peaks in the sources' own meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Calibration, Layout, ModelShape, Stack, Tokens, Training
from rlopt.estimates.arrays import Words
from rlopt.estimates.codes import Floats, Ints
from rlopt.estimates.training.memory import observed_gib, update_parts, update_tensors
from rlopt.estimates.training.worker import Worker
from rlopt.facts import Catalog
from rlopt.measured.memory.fields import MemoryFields, fields_of
from rlopt.measured.rows import MeasuredRow


@dataclass(frozen=True, slots=True)
class MemoryCases:
    """The rows of a file that can be predicted, n of them, as arrays; and what is said of all rows.

    Parameters
    ----------
    index
        Place of each case among the rows; shape (n,).
    reasons
        Per row: why it is no case, empty where it is one.
    fields, labels
        Per case: its cells, and what errors are grouped by.
    """

    index: Ints
    reasons: tuple[str, ...]
    fields: tuple[MemoryFields, ...]
    labels: tuple[Mapping[str, str], ...]
    shape: ModelShape
    training: Training
    layout: Layout
    stack: Stack
    tokens: Tokens
    precision: Words

    def __len__(self) -> int:
        return len(self.index)

    def worker(self, calibration: Calibration) -> Worker:
        """The cases as the estimates take them."""
        return Worker(self.shape, self.training, self.layout, self.precision, self.stack, calibration)


def cases(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> MemoryCases:
    """Read ``rows``; those that lack what no default can fill are left out with the reason."""
    read = [fields_of(row, catalog, calibration) for row in rows]
    index = [place for place, found in enumerate(read) if isinstance(found, MemoryFields)]
    fields = tuple(found for found in read if isinstance(found, MemoryFields))
    labels = tuple(_labels(rows[place], found) for place, found in zip(index, fields, strict=True))
    engines = np.array([calibration.engine(f.engine) for f in fields], dtype=np.int64)
    longest = np.array([f.longest for f in fields], dtype=np.float64)
    return MemoryCases(
        index=np.array(index, dtype=np.int64),
        reasons=tuple("" if isinstance(found, MemoryFields) else found for found in read),
        fields=fields,
        labels=labels,
        shape=_shapes(fields),
        training=Training(
            kind=np.array(["full" if f.method == "full" else "lora" for f in fields]),
            lora_rank=np.array([f.lora_rank for f in fields]),
            base_bytes=np.array([f.base_bytes for f in fields]),
            optimizer=np.array([f.optimizer for f in fields]),
            trainable_share=np.array([f.trainable_share for f in fields]),
            lora_targets=np.array([f.lora_targets for f in fields]),
        ),
        layout=Layout(*(np.array([getattr(f, name) for f in fields], dtype=np.int64) for name in Layout.__slots__)),
        stack=Stack(
            engine=engines,
            chunked_loss=np.array([f.chunked_loss for f in fields], dtype=bool),
            fused_attention=np.array([f.fused_attention for f in fields], dtype=bool),
            sequence_parallel=np.array([f.sequence_parallel for f in fields], dtype=bool),
        ),
        tokens=Tokens(longest, longest, longest**2, True),  # type: ignore[arg-type]
        precision=np.array([f.precision for f in fields]),
    )


def peaks(found: MemoryCases, calibration: Calibration) -> tuple[Floats, Floats]:
    """Peak as each row's source prints it, and the device peak that a plan counts with, GiB; shape (n,) each."""
    engines = calibration.engines
    last = np.isin([engines[e] for e in found.stack.engine], calibration.memory["last_rank_logs"])
    worker = found.worker(calibration)
    seen = observed_gib(update_tensors(worker, found.tokens, last).total(), found.stack, calibration)
    whole = update_parts(worker, found.tokens).total()
    return seen, whole


def limits(found: MemoryCases, calibration: Calibration) -> Floats:
    """What a plan counts with, its margin included: a measured peak should stay below, GiB; shape (n,)."""
    return peaks(found, calibration)[1] * (1.0 + margins(found, calibration))


def margins(found: MemoryCases, calibration: Calibration) -> Floats:
    """Margin of each case's engine; shape (n,)."""
    return calibration.by_engine("memory", "margin", found.stack.engine)


def _shapes(fields: Sequence[MemoryFields]) -> ModelShape:
    models = list(dict.fromkeys(f.model for f in fields))
    place = {model: number for number, model in enumerate(models)}
    return ModelShape.stack([ModelShape.of(model) for model in models], [place[f.model] for f in fields])


def _labels(row: MeasuredRow, fields: MemoryFields) -> dict[str, str]:
    model = fields.model
    return {
        "model": model.name,
        "device": row.text("gpu"),
        "engine": fields.engine,
        "source": row.id.rpartition("-")[0] or row.text("framework") or row.text("source"),
        "method": fields.method,
        "architecture": "moe" if model.experts else "dense",
        "config": "|".join(
            str(part) for part in
            (model.name, fields.method, fields.tp, fields.pp, fields.vp, fields.cp, fields.ep, fields.dp,
             fields.micro_batch, fields.longest, fields.recompute, fields.sharding, fields.optimizer,
             f"{fields.lora_rank:.3g}")
        ),
    }  # fmt: skip


__all__ = ["MemoryCases", "cases", "limits", "margins", "peaks"]
