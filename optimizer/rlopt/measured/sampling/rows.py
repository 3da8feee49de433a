"""Generation rows: what a published throughput was measured on, and what the estimates say about it.

Blank or ambiguous cells take these defaults, named in the outcome's note:

=====================  ===============================================================================
precision              MLPerf: fp4 on Blackwell, fp8 where the GPU has it; else 16 bits
cache precision        8 bits where weights are quantised and the engine's recipes quantise it, else 16
tensor parallel        smallest power of two at which weights take `MLPERF_SHARE` of the memory
prompt and response    of the MLPerf task; else `PROMPT` and `RESPONSE` tokens
concurrency            as many as the engine takes, where the row says maximum throughput; else 1
=====================  ===============================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Words
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.serving import Serving, effect_codes, engine_names
from rlopt.estimates.sampling.throughput import Load, output_tokens_per_s
from rlopt.estimates.shape import ModelShape
from rlopt.facts import Catalog, Model
from rlopt.facts.calibration import Calibration
from rlopt.measured.names import MeasuredMachine, find_both
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.sampling.cells import Cells, cells_of

NAMES = ("device", "model", "format", "version")
MAKERS = ("nvidia", "amd")
BRIDGED = {"H100-NVL": 2.0, "H200-NVL": 4.0}
"""GPUs that a bridge joins on cards sold as bridged sets, though their machines join cards by PCIe."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The rows that can be predicted, as the estimates take them, and why the others cannot.

    Parameters
    ----------
    rows
        Index into the rows given, shape (n,).
    reasons
        Why a row has no case, by index.
    names
        (device, model, weight format, engine version) of each case: what effects are keyed by.
    labels, notes
        Of each case.
    """

    rows: Ints
    reasons: Mapping[int, str]
    shape: ModelShape | None
    hardware: Hardware | None
    engine: tuple[str, ...]
    names: tuple[tuple[str, str, str, str], ...]
    tp: Floats
    ep: Floats
    replicas: Floats
    precision: Words
    dense_precision: Words
    kv_bytes: Floats
    block_scaled: np.ndarray
    sparse_tokens: Floats
    beams: Floats
    load: Load
    labels: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]

    def serving(self, calibration: Calibration) -> Serving:
        """How each case's engine runs; codes follow the names of the calibration's tables."""
        return Serving(
            engine=np.array([engine_names(calibration).index(name) for name in self.engine], dtype=np.int64),
            **{
                kind: effect_codes(kind, [names[place] for names in self.names], calibration)
                for place, kind in enumerate(NAMES)
            },
            dense_precision=self.dense_precision,
            kv_bytes=self.kv_bytes,
            block_scaled=self.block_scaled,
            sparse_tokens=self.sparse_tokens,
            beams=self.beams,
        )

    def tokens_per_s(self, calibration: Calibration, serving: Serving | None = None) -> Floats:
        """Output tokens per second of each case, shape (n,)."""
        if self.shape is None or self.hardware is None:
            return np.zeros(0)
        how = serving or self.serving(calibration)
        replica = Replica(self.shape, self.hardware, self.tp, self.precision, how, calibration, self.ep)
        return output_tokens_per_s(replica, self.replicas, self.load)


def cases(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> Cases:
    """Read generation rows; names are looked up once each."""
    reasons: dict[int, str] = {}
    found: list[tuple[int, Model, MeasuredMachine, Cells]] = []
    for number, row in enumerate(rows):
        both = find_both(row, catalog)
        if isinstance(both, str):
            reasons[number] = both
        else:
            found.append((number, *both, cells_of(row, *both, calibration)))
    read = [cells for *_, cells in found]
    load = Load(
        prompt=np.array([cells.prompt for cells in read]),
        response=np.array([cells.response for cells in read]),
        longest=np.array([cells.longest for cells in read]),
        concurrency=np.array([cells.concurrency for cells in read]),
        requests=np.array([cells.requests for cells in read]),
    )
    machines = [(m.device, m.gpus_per_node, _link(m, cells), m.node_gbps) for _, _, m, cells in found]
    return Cases(
        rows=np.array([number for number, *_ in found], dtype=np.int64),
        reasons=reasons,
        shape=_shapes([model for _, model, *_ in found]) if found else None,
        hardware=Hardware.of(machines, calibration) if found else None,
        engine=tuple(cells.engine for cells in read),
        names=tuple(
            (m.device.name, family(rows[number], model), cells.format, cells.version)
            for number, model, m, cells in found
        ),
        tp=np.array([cells.tp for cells in read], dtype=float),
        ep=np.array([cells.ep for cells in read], dtype=float),
        replicas=np.array([cells.replicas for cells in read], dtype=float),
        precision=np.array([cells.precision for cells in read]),
        dense_precision=np.array([cells.dense_precision for cells in read]),
        kv_bytes=np.array([cells.kv_bytes for cells in read]),
        block_scaled=np.array([cells.block_scaled for cells in read], dtype=bool),
        sparse_tokens=np.array([cells.sparse_tokens for cells in read]),
        beams=np.array([cells.beams for cells in read]),
        load=load,
        labels=tuple(_labels(rows[number], model, machine, cells) for number, model, machine, cells in found),
        notes=tuple("; ".join(cells.assumed) for cells in read),
    )


def _shapes(models: Sequence[Model]) -> ModelShape:
    """Shapes of the models by case; each model's own is made once."""
    first: dict[str, Model] = {}
    for model in models:
        first.setdefault(model.name, model)
    order = {name: place for place, name in enumerate(first)}
    return ModelShape.stack([ModelShape.of(model) for model in first.values()], [order[one.name] for one in models])


def predict(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order: output tokens per second of all GPUs of the row."""
    read = cases(rows, catalog, calibration)
    outcomes = [RowOutcome.unsupported(read.reasons.get(number, "")) for number in range(len(rows))]
    for place, value in enumerate(read.tokens_per_s(calibration)):
        labels, note = read.labels[place], read.notes[place]
        outcomes[int(read.rows[place])] = (
            RowOutcome(float(value), labels=labels, note=note)
            if np.isfinite(value)
            else RowOutcome.unsupported("the GPU's speed at this precision is not known", labels)
        )
    return outcomes


def _link(machine: MeasuredMachine, cells: Cells) -> str:
    bridged = 1.0 < max(cells.tp, cells.ep) <= BRIDGED.get(machine.device.name, 0.0)
    return "nvlink" if bridged else machine.intra


def family(row: MeasuredRow, model: Model) -> str:
    """Name that effects of a model are keyed by: a GPU maker's own checkpoint comes with a recipe of its own."""
    maker = row.text("model").lower().partition("/")[0]
    return f"{model.name} ({maker})" if maker in MAKERS else model.name


def source_of(row: MeasuredRow) -> str:
    """The data set of a row: its id without the number, else the start of its source."""
    found = re.match(r"[a-z][a-z0-9_]*?(?=[-_]?\d*$|-)", row.text("id").lower())
    return found.group() if found else row.text("source").partition(" ")[0] or "-"


def _labels(row: MeasuredRow, model: Model, machine: MeasuredMachine, cells: Cells) -> Mapping[str, str]:
    config = "|".join(
        (model.name, machine.device.name, cells.engine, f"tp{cells.tp:g}", f"ep{cells.ep:g}", cells.precision)
    )
    return {
        "model": model.name,
        "device": machine.device.name,
        "engine": cells.engine,
        "source": source_of(row),
        "method": "-",
        "architecture": "moe" if model.is_moe else "dense",
        "config": config,
    }
