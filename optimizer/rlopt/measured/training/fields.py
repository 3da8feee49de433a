"""One row of a training file, cell by cell: what it states, what is assumed for it, or why it is refused.

Assumed where a cell is blank; a row's note names what was:

===========================  ======================================================================
engine, recompute, kernels   by the source, catalogs/calibration/sources.yaml
GPU                          that of the source's pages, where there is one
GPUs                         tp · pp · cp · dp, where dp is stated
layers                       (parameters - vocabulary · hidden) / 12 hidden²
tp, pp, vp, cp, ep           1; experts over the GPUs of a node under Megatron
dp                           GPUs / (tp · pp · cp)
micro-batch                  1
global batch                 a micro-batch per data-parallel rank, 4 · pp of them with stages
sequence length              4096; samples of a PEFT benchmark and of unpacked runs are shorter
precision                    that of the recipe's name, else bf16
sharding                     ZeRO-1 under Megatron, none on one GPU, ZeRO-3 else
expert tensor parallelism    1 with expert parallelism, else as tp
LoRA rank                    16, on every linear layer
===========================  ======================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from rlopt.facts import Catalog, Model
from rlopt.facts.calibration import Calibration
from rlopt.measured.names import MeasuredMachine, find_machine
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.model import training_model
from rlopt.measured.training.stacks import StackFacts, find_stack, untimed
from rlopt.words import Recompute

LOW_PRECISIONS = (("fp4", "fp4"), ("fp8", "fp8"), ("float8", "fp8"))
"""Words in a precision's name; everything else computes in 16 bits."""
SHARDINGS = (("zero3", 3), ("fsdp", 3), ("zero2", 2), ("zero1", 1), ("zero-3", 3), ("zero-2", 2), ("zero-1", 1))
METHODS = ("full", "lora", "qlora")
LORA_RANK = re.compile(r"(?:lora_rank=|lora r=|lora rank |rank[-_]?)(\d+)", re.IGNORECASE)
EIGHT_BIT = re.compile(r"adamw8bit|8-bit adamw", re.IGNORECASE)
ADAPTER_TYPE = re.compile(r"PEFT type (\w+)", re.IGNORECASE)
PURE_16_BIT = re.compile(r"pure bf16", re.IGNORECASE)
CHUNKED_LOSS = re.compile(r"chunked (ce|loss|cross)", re.IGNORECASE)
NOT_PACKED = re.compile(r"packing=(no|false)", re.IGNORECASE)
UNPACKED = re.compile(r"unpacked", re.IGNORECASE)
EXPERT_TP = re.compile(r"expert-tensor-parallel-size=(\d+)", re.IGNORECASE)
PARTS = ("tp", "pp", "vp", "cp", "ep")
MOST = 1e8
"""Counts beyond this are slips."""
SAME_WORK = 0.25
"""Share by which a printed rate may differ from batch over step time."""


@dataclass(frozen=True, slots=True)
class TrainingFields:
    """What one row ran; sizes are counts, `sharding` and `recompute` codes of a layout.

    A micro-batch holds sequences of at most ``tokens``; samples that are not packed have ``sample`` on average.
    """

    model: Model
    machine: MeasuredMachine
    stack: StackFacts
    gpus: int
    tp: int
    pp: int
    vp: int
    dp: int
    cp: int
    ep: int
    etp: int
    sharding: int
    micro_batch: int
    global_batch: int
    tokens: float
    sample: float
    recompute: int
    precision: str
    method: str
    optimizer: str
    lora_rank: int
    adapter: str
    offload: int
    assumed: tuple[str, ...]


def read_fields(row: MeasuredRow, catalog: Catalog, calibration: Calibration) -> TrainingFields | str:
    """What ``row`` ran, or why that cannot be known."""
    assumed: list[str] = []
    reason = untimed(row, calibration) or _contradiction(row)
    if reason:
        return reason
    model = training_model(row, catalog, calibration, assumed)
    machine = find_machine(_with_gpu(row, calibration, assumed), catalog)
    if isinstance(model, str):
        return model
    if isinstance(machine, str):
        return machine
    for column in (*PARTS, "dp", "gpus", "micro_batch", "global_batch", "seq_len"):
        if not 0.0 < (row.number(column) or 1.0) < MOST:
            return f"{column} is no possible count"
    stack = _stack(row, calibration, assumed)
    sizes = _parallel(row, model, machine, assumed)
    if isinstance(sizes, str):
        return sizes
    micro, batch = _batches(row, sizes, assumed)
    method = row.text("method").lower() or "full"
    if method not in METHODS:
        return f"the method {row.text('method')!r} is none of {', '.join(METHODS)}"
    if not row.has("method"):
        assumed.append("method full")
    notes, length = row.text("notes"), _tokens(row, stack, calibration, assumed)
    kind = ADAPTER_TYPE.search(notes)
    return TrainingFields(
        model=model,
        machine=machine,
        stack=stack,
        sharding=_sharding(row, sizes["gpus"], assumed),
        micro_batch=micro,
        global_batch=batch,
        tokens=length,
        sample=_sample(row, length, calibration, assumed),
        recompute=Recompute(stack.recompute).code,
        precision=_precision(row, assumed),
        method=method,
        optimizer=_optimizer(notes) if method == "full" else "adamw",
        adapter=kind[1].lower() if kind else method,
        lora_rank=0 if method == "full" else _rank(row, calibration, assumed),
        offload=1 if "offload" in notes.lower() and "activation off" not in notes.lower() else 0,
        assumed=tuple(assumed),
        **sizes,
    )


def _contradiction(row: MeasuredRow) -> str:
    """Where printed rate, step time and batch do not belong to one run."""
    cells = [row.number(c) for c in ("tokens_per_s_per_gpu", "step_time_s", "gpus", "global_batch", "seq_len")]
    rate, step, gpus, batch, length = (cell or np.nan for cell in cells)
    if not abs(rate * step * gpus / (batch * length) - 1.0) > SAME_WORK:
        return ""
    return "tokens/s, step time and batch contradict each other"


def _with_gpu(row: MeasuredRow, calibration: Calibration, assumed: list[str]) -> MeasuredRow:
    """The row with the card of its source's pages where it names none."""
    if row.text("gpu"):
        return row
    for source, gpu in calibration.stacks.defaults["gpu_of_source"].items():
        if source in row.text("source").lower():
            assumed.append(f"GPU {gpu}")
            return replace(row, cells={**row.cells, "gpu": gpu})
    return row


def _stack(row: MeasuredRow, calibration: Calibration, assumed: list[str]) -> StackFacts:
    found = find_stack(row, calibration)
    recompute = row.text("activation_recompute").lower()
    if recompute in tuple(Recompute):
        found = replace(found, recompute=recompute)
    else:
        assumed.append(f"recompute {found.recompute}")
    attention = row.text("flash_attention").lower()
    if attention in ("yes", "no") and not found.knows_attention:
        found = replace(found, fused_attention=attention == "yes")
    if CHUNKED_LOSS.search(row.text("notes")):
        found = replace(found, chunked_loss=True)
    return found


def _parallel(row: MeasuredRow, model: Model, machine: MeasuredMachine, assumed: list[str]) -> dict[str, int] | str:
    """GPUs and degrees that multiply up to them."""
    degrees = {name: int(row.number(name) or 1) for name in PARTS}
    tp, pp, cp = degrees["tp"], degrees["pp"], degrees["cp"]
    stated_gpus, stated_dp = row.number("gpus"), row.number("dp")
    if stated_gpus is None and stated_dp is None:
        return "neither GPUs nor data-parallel ranks are stated"
    gpus = int(stated_gpus or tp * pp * cp * (stated_dp or 1))
    if stated_gpus is None:
        assumed.append(f"{gpus} GPUs")
    if gpus < tp * pp * cp:
        return "its parallel degrees need more GPUs than it states"
    dp = gpus // (tp * pp * cp)
    gpus = dp * tp * pp * cp
    if model.experts and not row.has("ep") and "megatron" in row.text("sharding").lower():
        degrees["ep"] = min(machine.gpus_per_node, model.experts)
        assumed.append(f"ep {degrees['ep']}")
    degrees["ep"] = min(degrees["ep"], dp * cp * tp)
    found = EXPERT_TP.search(row.text("notes"))
    etp = int(found[1]) if found else 1 if degrees["ep"] > 1 else tp
    etp = max(min(etp, dp * cp * tp // degrees["ep"]), 1)
    return {"gpus": gpus, "dp": dp, "etp": etp, **degrees}


def _batches(row: MeasuredRow, sizes: dict[str, int], assumed: list[str]) -> tuple[int, int]:
    micro, batch, dp = row.number("micro_batch"), row.number("global_batch"), sizes["dp"]
    if micro is None:
        micro = 1.0
        assumed.append("micro-batch 1")
    if batch is None:
        batch = micro * dp * (4 * sizes["pp"] if sizes["pp"] > 1 else 1)
        assumed.append(f"global batch {batch:.0f}")
    return max(int(micro), 1), max(int(batch), 1)


def _sharding(row: MeasuredRow, gpus: int, assumed: list[str]) -> int:
    text = row.text("sharding").lower()
    for word, code in SHARDINGS:
        if word in text:
            return code
    if "megatron" in text:
        return 0 if "bigscience" in row.text("source").lower() else 1
    if "ddp" in text or gpus == 1:
        return 0
    assumed.append("sharding zero3")
    return 3


def _tokens(row: MeasuredRow, stack: StackFacts, calibration: Calibration, assumed: list[str]) -> float:
    stated = row.number("seq_len")
    if stated is not None:
        return stated
    if UNPACKED.search(row.text("notes")):
        key = "unpacked_sequence_length"
    else:
        key = "peft_sequence_length" if stack.engine == "peft" else "sequence_length"
    length = float(calibration.stacks.defaults[key])
    assumed.append(f"sequences of {length:.0f}")
    return length


def _sample(row: MeasuredRow, length: float, calibration: Calibration, assumed: list[str]) -> float:
    """Mean length of a sample: shorter than the limit where a row says that nothing is packed."""
    short = float(calibration.stacks.defaults["unpacked_sequence_length"])
    if not NOT_PACKED.search(row.text("notes")) or short >= length:
        return length
    assumed.append(f"samples of {short:.0f} tokens")
    return short


def _optimizer(notes: str) -> str:
    if EIGHT_BIT.search(notes):
        return "adamw_8bit"
    return "adamw_bf16" if PURE_16_BIT.search(notes) else "adamw"


def _precision(row: MeasuredRow, assumed: list[str]) -> str:
    text = row.text("precision").lower()
    if not row.has("precision"):
        text = row.text("notes").lower()
        assumed.append("precision")
    return next((name for word, name in LOW_PRECISIONS if word in text), "bf16")


def _rank(row: MeasuredRow, calibration: Calibration, assumed: list[str]) -> int:
    stated, found = row.number("lora_rank"), LORA_RANK.search(row.text("notes"))
    if stated is not None:
        return int(stated)
    if found:
        return int(found[1])
    rank = int(calibration.stacks.defaults["lora_rank"])
    assumed.append(f"LoRA rank {rank}")
    return rank


__all__ = ["TrainingFields", "read_fields"]
