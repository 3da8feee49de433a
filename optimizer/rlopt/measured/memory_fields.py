"""One row with a measured peak, cell by cell: what it states, what is assumed for it, or why it is refused.

Assumed where a cell is blank
-----------------------------
engine, recomputation, attention, loss      from the source (catalogs/calibration/sources.yaml)
tp, pp, vp, cp, ep                          1; vp from the layers per virtual stage where they are stated
GPUs                                        tp · pp · cp · dp; else one node of a functional test, eight of a release run
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
from dataclasses import dataclass

from rlopt.estimates import RECOMPUTE, SHARDING, Calibration, ModelShape
from rlopt.facts import Catalog, Model
from rlopt.measured.megatron_args import arguments, model_of, whole
from rlopt.measured.names import find_model
from rlopt.measured.rows import Row
from rlopt.measured.stacks import StackFacts, find_stack

QUANTISED = re.compile(r"\b(int4|nf4|4-?bit|awq|gptq|qlora)\b", re.IGNORECASE)
OLD_CONTAINER = re.compile(r"golden_values_(lts_[a-z0-9]*_dracooci|dev_dgxa100_dracooci|lts_)")
LENGTHS = (re.compile(r"longest sample (\d+)"), re.compile(r"max_seq_length (\d+)"), re.compile(r"max seq (\d{3,})"))
BATCH = re.compile(r"batch size per DP (\d+)")
TRAINED = re.compile(r"trainable (\d{2,})")
RANK = re.compile(r"(?:lora_r(?:ank)?|lora r|\brank|\br)[=_ -]?(\d+)", re.IGNORECASE)
DEFAULT_LENGTH = 2048
DEFAULT_RANK = 16
RELEASE_GPUS = 64
"""GPUs assumed of a Megatron release run, which prints none: eight nodes."""


@dataclass(frozen=True, slots=True)
class Fields:
    """What the memory model needs of a row; degrees and codes as in `rlopt.estimates.Layout`."""

    model: Model
    engine: str
    method: str
    precision: str
    optimizer: str
    lora_rank: float
    base_bytes: float
    trainable_share: float
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


def fields_of(row: Row, catalog: Catalog, calibration: Calibration) -> Fields | str:
    """Read ``row``, or say why it cannot be predicted."""
    args = arguments(row)
    model = model_of(row, args) if args else find_model(row, catalog)
    if isinstance(model, str):
        return model
    facts = find_stack(row, calibration)
    assumed: list[str] = []
    degrees = _degrees(row, args, facts, assumed)
    if isinstance(degrees, str):
        return degrees
    method = _method(row)
    recompute = _recompute(row, facts, assumed)
    sharding = _sharding(row, facts, degrees["gpus"])
    precision = _precision(row)
    notes = row.text("notes")
    return Fields(
        model=model,
        engine=facts.engine,
        method=method,
        precision=precision,
        optimizer=_optimizer(row, args, facts, sharding, method, calibration),
        lora_rank=_rank(row, model, facts) if method != "full" else 0.0,
        base_bytes=_base_bytes(row, method, calibration),
        trainable_share=_trainable(notes),
        tp=degrees["tp"],
        pp=degrees["pp"],
        vp=degrees["vp"],
        dp=degrees["dp"],
        cp=degrees["cp"],
        ep=degrees["ep"],
        etp=degrees["etp"],
        sharding=sharding,
        micro_batch=_micro_batch(row, assumed),
        recompute=recompute,
        offload=_offload(notes),
        longest=_longest(row, facts, assumed),
        fused_attention=_fused(row, args, facts),
        chunked_loss=_chunked(notes, facts),
        sequence_parallel=args.get("sequence-parallel") == "True" if args else facts.sequence_parallel,
        note="assumed: " + ", ".join(assumed) if assumed else "",
    )


def _degrees(row: Row, args: Mapping[str, str], facts: StackFacts, assumed: list[str]) -> dict[str, int] | str:
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
    etp = stated["tp"] if facts.engine == "megatron-ci" else 1
    return {
        **stated,
        "gpus": int(gpus),
        "vp": virtual if stated["pp"] > 1 else 1,
        "dp": ranks,
        "etp": min(whole(args, "expert-tensor-parallel-size", etp), int(gpus)),
    }


def _likely_gpus(row: Row, args: Mapping[str, str], inside: int, ep: int) -> float:
    if args and "release" in row.text("model"):
        return float(max(RELEASE_GPUS, inside * ep))
    node = 4 if row.text("gpu").lower().startswith(("gb", "v100")) and "_1node" in row.text("model") else 8
    return float(max(inside, node if args else 1))


def _method(row: Row) -> str:
    text = row.text("method").lower()
    if "qlora" in text or ("lora" in text and QUANTISED.search(f"{row.text('precision')} {row.text('model')}")):
        return "qlora"
    return "lora" if "lora" in text else "full"


def _precision(row: Row) -> str:
    text = row.text("precision").lower()
    if "fp4" in text and "nf4" not in text:
        return "fp4"
    if "fp8" in text:
        return "fp8"
    return "fp32" if text.startswith("fp32") else "bf16"


def _recompute(row: Row, facts: StackFacts, assumed: list[str]) -> int:
    text = row.text("activation_recompute").lower()
    word = next((name for name in ("selective", "full", "none") if text.startswith(name)), None)
    word = word or {"yes": "full", "y": "full", "true": "full", "no": "none", "n": "none"}.get(text.split(" ")[0])
    if word is None:
        word = facts.recompute
        assumed.append(f"recomputation {word}")
    return RECOMPUTE.index(word)


def _sharding(row: Row, facts: StackFacts, gpus: int) -> int:
    text = row.text("sharding").lower()
    for name in reversed(SHARDING):
        if name in text or (name == "zero3" and "fsdp" in text):
            return SHARDING.index(name)
    if facts.engine in ("swift-megatron", "megatron") or facts.engine.startswith("bridge"):
        return SHARDING.index("zero1")
    return 0 if text or gpus <= 1 else SHARDING.index("zero3")


def _micro_batch(row: Row, assumed: list[str]) -> float:
    stated = row.number("micro_batch")
    if stated:
        return stated
    found = BATCH.search(row.text("notes"))
    batch = float(found[1]) if found else 1.0
    assumed.append(f"micro-batch {batch:.0f}")
    return batch


def _longest(row: Row, facts: StackFacts, assumed: list[str]) -> float:
    notes = row.text("notes")
    for pattern in LENGTHS:
        found = pattern.search(notes)
        if found and (not row.number("seq_len")):
            assumed.append(f"longest sequence {found[1]}")
            return float(found[1])
    stated = row.number("seq_len")
    if stated:
        return stated
    length = 4096 if facts.engine.startswith(("bridge", "primus")) else DEFAULT_LENGTH
    assumed.append(f"sequence length {length}")
    return float(length)


def _fused(row: Row, args: Mapping[str, str], facts: StackFacts) -> bool:
    if args:
        backend = args.get("attention-backend", "")
        if args.get("transformer-impl") == "local" or backend == "unfused":
            return False
        deterministic = args.get("deterministic-mode") == "True"
        stale = not row.number("gpus") or "dracooci" in row.text("source")
        return not (deterministic and stale and OLD_CONTAINER.search(row.text("source")) is not None)
    stated = row.text("flash_attention").lower()
    if stated in ("yes", "no"):
        return stated == "yes"
    return facts.fused_attention


def _chunked(notes: str, facts: StackFacts) -> bool:
    return facts.chunked_loss or "chunked" in notes.lower() or "liger" in notes.lower()


def _optimizer(
    row: Row, args: Mapping[str, str], facts: StackFacts, sharding: int, method: str, calibration: Calibration
) -> str:
    notes = row.text("notes").lower()
    if "optimizer" in args and args["optimizer"] != "adam":
        return args["optimizer"] if args["optimizer"] in ("muon", "sgd") else "adamw"
    if re.search(r"adam\w* ?8bit|8-?bit adam|adamw8bit", notes):
        return "adamw_8bit"
    if "galore" in notes:
        return "galore"
    in_place = facts.engine in calibration.memory["trains_in_place"]
    return "adamw_bf16" if in_place and (sharding == 0 or facts.engine not in ("swift", "hf")) else "adamw"


def _offload(notes: str) -> int:
    text = notes.lower()
    if re.search(r"cpu offload of weights|full offload|cpu offload with|offload.{0,12}param", text):
        return 2
    return int(bool(re.search(r"optimizer offload|zero-?offload|offload optimizer|cpu offload", text)))


def _trainable(notes: str) -> float:
    return 1.0


def _base_bytes(row: Row, method: str, calibration: Calibration) -> float:
    return float(calibration.size_bytes("int4")) if method == "qlora" else 2.0


def _rank(row: Row, model: Model, facts: StackFacts) -> float:
    """Rank on all linear layers that has as many parameters as the row trains."""
    notes = row.text("notes")
    shape = ModelShape.of(model)
    per_rank = float(shape.lora_params(1))
    found = TRAINED.search(notes)
    if found:
        return float(found[1]) / per_rank
    stated = RANK.search(notes)
    rank = row.number("lora_rank") or (float(stated[1]) if stated else DEFAULT_RANK)
    if "lora (emb)" in notes.lower():  # embedding and head are trained beside the adapters
        return rank + float(shape.embedding + shape.head) / per_rank
    return rank


__all__ = ["Fields", "fields_of"]
