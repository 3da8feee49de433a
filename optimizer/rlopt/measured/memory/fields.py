"""One row with a measured peak, cell by cell: what it states, what is assumed for it, or why it is refused.

Assumed where a cell is blank
-----------------------------
engine, recomputation, attention, loss      from the source (catalogs/calibration/sources.yaml)
tp, pp, vp, cp, ep                          1; vp from the layers per virtual stage where they are stated
GPUs                                        tp · pp · cp · dp; else a node of a functional test, eight of a release run
dp                                          GPUs / (tp · pp · cp)
micro-batch                                 what the notes say of the batch, else 1
longest sequence                            the longest sample or cap that the notes name, else by source, else 2048
expert tensor parallelism                   tp in Megatron's tests (its own default), 1 elsewhere
sharding                                    ZeRO-1 under Megatron Core; none on one GPU; ZeRO-3 else
LoRA rank                                   the one that gives as many parameters as the notes count; else 16
optimizer                                   AdamW, without a master where the engine trains a bf16 model in place
attention of Megatron's old containers      unfused where runs are deterministic: their kernels had no fused one
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rlopt.estimates import Calibration
from rlopt.facts import Catalog, Model
from rlopt.measured.memory.text import (
    base_bytes_of,
    fused_of,
    method_of,
    offload_of,
    optimizer_of,
    precision_of,
    rank_of,
    targets_of,
)
from rlopt.measured.names import find_machine, find_model
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.megatron_args import arguments, model_of, whole
from rlopt.measured.training.stacks import StackFacts, find_stack
from rlopt.units import GIB
from rlopt.words import ZERO1, ZERO3, Recompute, Sharding

LENGTHS = (re.compile(r"longest sample (\d+)"), re.compile(r"max_seq_length (\d+)"), re.compile(r"max seq (\d{3,})"))
BATCH = re.compile(r"batch size per DP (\d+)")
LOCAL_BATCH = re.compile(r"local batch (\d+) \(pipeline")
EXPERT_TP = re.compile(r"etp(\d+)")
CHUNKED = re.compile(r"^(?!.*not using use_liger).*(chunked|liger|cross_entropy_loss_fusion)")
TRAINED_SHARES = {"tuners/lisa": 0.25, "tuners/llamapro": 0.12}
"""Share of the weights that selective full fine-tunes of ms-swift train: two layers and the tables; new blocks."""
COUNTS = (
    "layers", "hidden", "heads", "kv_heads", "ffn_hidden", "vocab", "gpus", "tp", "pp", "vp", "dp", "cp", "ep",
    "micro_batch", "seq_len", "lora_rank",
)  # fmt: skip
LARGEST = 1e7
"""Counts below one or beyond this are slips."""
DISAGREEMENT = 0.12
"""Stated parameters win over a stated shape that differs by more."""
IN_PLACE = 8.0
"""Bytes a parameter takes that is trained in bf16 without a master."""
LARGEST_BASE_GIB = 70.0
LONGEST_CAP = 8192.0
"""Caps beyond this are set for samples that are so long."""
UNPACKED_LENGTH = 1024.0
"""Longest unpacked sample of ms-swift's examples, tokens."""
LITGPT_PRETRAIN_BATCH = 4.0
DEFAULT_LENGTH = 2048
RELEASE_GPUS = 64
"""GPUs assumed of a Megatron release run, which prints none: eight nodes."""


@dataclass(frozen=True, slots=True)
class MemoryFields:
    """What the memory model needs of a row; degrees and codes as in `rlopt.estimates.Layout`."""

    model: Model
    engine: str
    method: str
    precision: str
    optimizer: str
    lora_rank: float
    base_bytes: float
    trainable_share: float
    lora_targets: float
    tp: int
    pp: int
    vp: int
    dp: int
    cp: int
    ep: int
    etp: int
    sharding: int
    micro_batch: float
    recompute: int
    offload: int
    longest: float
    fused_attention: bool
    chunked_loss: bool
    sequence_parallel: bool
    note: str


def _slip(row: MeasuredRow) -> str:
    """The first cell that no run can have; empty where all may be."""
    stated = ((name, row.number(name)) for name in COUNTS)
    slip = next((name for name, value in stated if value is not None and not 1.0 <= value <= LARGEST), "")
    return slip or ("params_b" if (row.number("params_b") or 1.0) > LARGEST else "")


def fields_of(row: MeasuredRow, catalog: Catalog, calibration: Calibration) -> MemoryFields | str:
    """Read ``row``, or say why it cannot be predicted."""
    slip = _slip(row)
    if slip:
        return f"{slip} cannot be {row.text(slip)[:20]}"
    args = arguments(row)
    model = model_of(row, args) if args else _model(row, catalog)
    if isinstance(model, str):
        return model
    facts = _stack(row, calibration)
    assumed: list[str] = []
    method = method_of(row)
    degrees = _degrees(row, args, facts, assumed)
    if method == "full" and facts.engine == "hf" and not row.has("gpus") and not row.has("sharding"):
        return "neither GPUs nor sharding of a full fine-tune are stated"
    notes = row.text("notes")
    text = " | ".join((row.text("source"), row.text("model"), notes)).lower()
    sharding = _sharding(row, facts, degrees["gpus"])
    recompute = _recompute(row, facts, sharding, assumed)
    precision = precision_of(row)
    if "device_map" in text or _is_spread(model, method, sharding, degrees, facts):
        ranks = 2 if "ddp_device_map" in text else 1
        degrees |= {"pp": max(degrees["dp"] // ranks, 1), "dp": ranks}
        assumed.append("layers spread over the GPUs")
    return MemoryFields(
        model=model,
        engine=facts.engine,
        method=method,
        precision=precision,
        optimizer=optimizer_of(text, args, facts, sharding, calibration, _too_large(row, model, method, catalog)),
        lora_rank=rank_of(row, model) if method != "full" else 0.0,
        base_bytes=base_bytes_of(row, method, calibration),
        trainable_share=next((share for name, share in TRAINED_SHARES.items() if name in text), 1.0),
        lora_targets=targets_of(notes, model),
        tp=degrees["tp"],
        pp=degrees["pp"],
        vp=degrees["vp"],
        dp=degrees["dp"],
        cp=degrees["cp"],
        ep=degrees["ep"],
        etp=degrees["etp"],
        sharding=sharding,
        micro_batch=_micro_batch(row, facts, degrees["pp"], assumed),
        recompute=recompute,
        offload=offload_of(text),
        longest=_longest(row, facts, assumed),
        fused_attention=fused_of(row, args, facts),
        chunked_loss=facts.chunked_loss or CHUNKED.search(text) is not None,
        sequence_parallel=args.get("sequence-parallel") == "True" if args else facts.sequence_parallel,
        note="assumed: " + ", ".join(assumed) if assumed else "",
    )


def _stack(row: MeasuredRow, calibration: Calibration) -> StackFacts:
    """The row's stack; the notes of ms-swift's runs name both of its back ends, their sharding tells which one ran."""
    facts = find_stack(row, calibration)
    if "ms-swift" not in row.text("source"):
        return facts
    if row.text("sharding") == "megatron":
        return replace(facts, engine="swift-megatron", recompute="full")
    return replace(facts, engine="swift", recompute="full") if facts.engine == "swift-megatron" else facts


def _degrees(row: MeasuredRow, args: Mapping[str, str], facts: StackFacts, assumed: list[str]) -> dict[str, int]:
    stated = {name: int(row.number(name) or 1) for name in ("tp", "pp", "cp", "ep")}
    inside = stated["tp"] * stated["pp"] * stated["cp"]
    gpus, dp = row.number("gpus"), row.number("dp")
    if not gpus and dp:
        gpus = dp * inside
    if not gpus:
        gpus = _likely_gpus(row, args, inside, stated["ep"])
        assumed.append(f"{gpus:.0f} GPUs")
    ranks = max(int(gpus) // inside, 1)
    virtual = int(row.number("vp") or whole(args, "num-virtual-stages-per-pipeline-rank", 1))
    named = EXPERT_TP.search(row.text("model")) if args else None
    etp = int(named[1]) if named else stated["tp"] if facts.engine == "megatron-ci" else 1
    return {
        **stated,
        "gpus": int(gpus),
        "vp": virtual if stated["pp"] > 1 else 1,
        "dp": ranks,
        "etp": min(whole(args, "expert-tensor-parallel-size", etp), int(gpus)),
    }


def _likely_gpus(row: MeasuredRow, args: Mapping[str, str], inside: int, ep: int) -> float:
    if args and "release" in row.text("model"):
        return float(max(RELEASE_GPUS, inside * ep))
    node = 4 if row.text("gpu").lower().startswith(("gb", "v100")) and "_1node" in row.text("model") else 8
    return float(max(inside, node if args else 1))


def _recompute(row: MeasuredRow, facts: StackFacts, sharding: int, assumed: list[str]) -> int:
    text = row.text("activation_recompute").lower()
    word: str | None = next((name for name in Recompute if text.startswith(name)), None)
    word = word or {"yes": "full", "y": "full", "true": "full", "no": "none", "n": "none"}.get(text.split(" ")[0])
    if word is None:
        tuned = facts.engine == "litgpt" and sharding == ZERO3 and "pretrain" not in row.text("model")
        word = "full" if tuned else facts.recompute  # litgpt recomputes layers where it shards a fine-tune
        assumed.append(f"recomputation {word}")
    return Recompute(word).code


def _sharding(row: MeasuredRow, facts: StackFacts, gpus: int) -> int:
    text = row.text("sharding").lower()
    if "fsdp2" in row.text("source").lower():
        return ZERO3
    for name in reversed(Sharding):
        if name in text or (name == Sharding.ZERO3 and "fsdp" in text):
            return name.code
    if facts.engine in ("swift-megatron", "megatron") or facts.engine.startswith("bridge"):
        return ZERO1
    return 0 if text or gpus <= 1 else ZERO3


def _micro_batch(row: MeasuredRow, facts: StackFacts, pp: int, assumed: list[str]) -> float:
    stated = row.number("micro_batch")
    if stated:
        return stated
    notes = row.text("notes")
    found, local = BATCH.search(notes), LOCAL_BATCH.search(notes)
    batch = float(found[1]) if found else max(float(local[1]) // pp, 1.0) if local else 1.0
    if facts.engine == "litgpt" and "pretrain" in row.text("model"):
        batch = LITGPT_PRETRAIN_BATCH
    assumed.append(f"micro-batch {batch:.0f}")
    return batch


def _longest(row: MeasuredRow, facts: StackFacts, assumed: list[str]) -> float:
    notes = row.text("notes")
    if "unpacked" in notes.lower():
        assumed.append("longest sample shorter than the cap")
        return UNPACKED_LENGTH
    for pattern in LENGTHS:
        found = pattern.search(notes)
        if found and (not row.number("seq_len")):
            assumed.append(f"longest sequence {found[1]}")
            return float(found[1])
    stated = row.number("seq_len")
    if stated and stated <= LONGEST_CAP and facts.engine.startswith("swift") and "packing=no" in notes:
        assumed.append("longest sample shorter than the cap")
        return max(min(stated, UNPACKED_LENGTH), 1.0)
    if stated:
        return stated
    length = 4096 if facts.engine.startswith(("bridge", "primus")) else DEFAULT_LENGTH
    assumed.append(f"sequence length {length}")
    return float(length)


def _model(row: MeasuredRow, catalog: Catalog) -> Model | str:
    """The row's model; layers follow from stated parameters and width where they are missing."""
    found = find_model(row, catalog)
    stated, hidden = (row.number("params_b") or 0.0) * 1e9, row.number("hidden")
    if isinstance(found, str) and stated and hidden:
        per_layer = 12.0 * hidden * hidden
        layers = round((stated - (row.number("vocab") or 0.0) * hidden) / per_layer)
        found = find_model(MeasuredRow(row.line, {**row.cells, "layers": str(max(layers, 1))}), catalog)
    own = isinstance(found, Model) and found.params_basis == "inline" and stated > 0.0
    if own and isinstance(found, Model) and abs(found.params / stated - 1.0) > DISAGREEMENT:
        return replace(found, params=stated, active_params=stated)
    return found


def _too_large(row: MeasuredRow, model: Model, method: str, catalog: Catalog) -> bool:
    """Whether a model trained in place on one GPU would not leave room for its moments: they are paged out."""
    machine = find_machine(row, catalog)
    alone = method == "full" and row.number("gpus") == 1 and not isinstance(machine, str)
    return alone and not isinstance(machine, str) and IN_PLACE * model.params / GIB > machine.device.memory_gib


def _is_spread(model: Model, method: str, sharding: int, degrees: Mapping[str, int], facts: StackFacts) -> bool:
    """Whether one copy of the frozen base cannot stand on one GPU, so that its layers must be spread over several."""
    base = model.params * (0.55 if method == "qlora" else 2.0) / GIB
    alone = degrees["tp"] == degrees["pp"] == degrees["ep"] == 1 and degrees["dp"] > 1
    return method != "full" and sharding == 0 and alone and base > LARGEST_BASE_GIB


__all__ = ["MemoryFields", "fields_of"]
