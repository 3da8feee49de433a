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
from dataclasses import dataclass, replace

from rlopt.estimates import RECOMPUTE, SHARDING, Calibration, ModelShape
from rlopt.estimates.codes import ZERO3
from rlopt.facts import Catalog, Model
from rlopt.measured.megatron_args import arguments, model_of, whole
from rlopt.measured.names import find_model
from rlopt.measured.rows import Row
from rlopt.measured.stacks import StackFacts, find_stack
from rlopt.units import GIB

QUANTISED = re.compile(r"\b(int4|nf4|4-?bit|awq|gptq|qlora)\b", re.IGNORECASE)
OLD_CONTAINER = re.compile(r"golden_values_(lts_[a-z0-9]*_dracooci|dev_dgxa100_dracooci|lts_)")
LENGTHS = (re.compile(r"longest sample (\d+)"), re.compile(r"max_seq_length (\d+)"), re.compile(r"max seq (\d{3,})"))
BATCH = re.compile(r"batch size per DP (\d+)")
LOCAL_BATCH = re.compile(r"local batch (\d+) \(pipeline")
EXPERT_TP = re.compile(r"etp(\d+)")
CHUNKED = re.compile(r"chunked|liger|cross_entropy_loss_fusion")
TRAINED = re.compile(r"trainable (\d[\d,]+)")
TARGETS = re.compile(r"lora_r=\d+ on ([a-z+]+)")
WIDTHS = {"query": 1, "key": 1, "value": 1, "projection": 1, "mlp": 1, "head": 0}
"""Inputs as wide as the model that an adapter on each target reads."""
TRAINED_SHARES = {"tuners/lisa": 0.25, "tuners/llamapro": 0.12}
"""Share of the weights that selective full fine-tunes of ms-swift train: two layers and the tables; new blocks."""
TABLE_STATES = 0.75
"""Tables trained beside adapters have bf16 weights and gradients and fp32 moments: 12 of an adapter's 16 bytes."""
DISAGREEMENT = 0.12
"""Stated parameters win over a stated shape that differs by more."""
LARGEST_BASE_GIB = 70.0
UNPACKED_LENGTH = 1024.0
"""Longest unpacked sample of ms-swift's examples, tokens."""
LITGPT_PRETRAIN_BATCH = 4.0
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


def fields_of(row: Row, catalog: Catalog, calibration: Calibration) -> Fields | str:
    """Read ``row``, or say why it cannot be predicted."""
    args = arguments(row)
    model = model_of(row, args) if args else _model(row, catalog)
    if isinstance(model, str):
        return model
    facts = _stack(row, calibration)
    assumed: list[str] = []
    method = _method(row)
    degrees = _degrees(row, args, facts, assumed)
    if method == "full" and facts.engine == "hf" and not row.has("gpus") and not row.has("sharding"):
        return "neither GPUs nor sharding of a full fine-tune are stated"
    notes = row.text("notes")
    text = " | ".join((row.text("source"), row.text("model"), notes)).lower()
    sharding = _sharding(row, facts, degrees["gpus"])
    recompute = _recompute(row, facts, sharding, assumed)
    precision = _precision(row)
    if "device_map" in text or _is_spread(model, method, sharding, degrees, facts):
        ranks = 2 if "ddp_device_map" in text else 1
        degrees |= {"pp": max(degrees["dp"] // ranks, 1), "dp": ranks}
        assumed.append("layers spread over the GPUs")
    return Fields(
        model=model,
        engine=facts.engine,
        method=method,
        precision=precision,
        optimizer=_optimizer(text, args, facts, sharding, calibration),
        lora_rank=_rank(row, model, facts) if method != "full" else 0.0,
        base_bytes=_base_bytes(row, method, calibration),
        trainable_share=next((share for name, share in TRAINED_SHARES.items() if name in text), 1.0),
        lora_targets=_targets(notes, model),
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
        offload=_offload(text),
        longest=_longest(row, facts, assumed),
        fused_attention=_fused(row, args, facts),
        chunked_loss=facts.chunked_loss or CHUNKED.search(text) is not None,
        sequence_parallel=args.get("sequence-parallel") == "True" if args else facts.sequence_parallel,
        note="assumed: " + ", ".join(assumed) if assumed else "",
    )


def _stack(row: Row, calibration: Calibration) -> StackFacts:
    """The row's stack; ms-swift's runs name both of its back ends in their notes, their sharding tells which one ran."""
    facts = find_stack(row, calibration)
    if "ms-swift" not in row.text("source"):
        return facts
    if row.text("sharding") == "megatron":
        return replace(facts, engine="swift-megatron", recompute="full")
    return replace(facts, engine="swift", recompute="full") if facts.engine == "swift-megatron" else facts


def _degrees(row: Row, args: Mapping[str, str], facts: StackFacts, assumed: list[str]) -> dict[str, int]:
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


def _recompute(row: Row, facts: StackFacts, sharding: int, assumed: list[str]) -> int:
    text = row.text("activation_recompute").lower()
    word = next((name for name in ("selective", "full", "none") if text.startswith(name)), None)
    word = word or {"yes": "full", "y": "full", "true": "full", "no": "none", "n": "none"}.get(text.split(" ")[0])
    if word is None:
        word = "full" if facts.engine == "litgpt" and sharding == ZERO3 and "pretrain" not in row.text("model") else facts.recompute
        assumed.append(f"recomputation {word}")
    return RECOMPUTE.index(word)


def _sharding(row: Row, facts: StackFacts, gpus: int) -> int:
    text = row.text("sharding").lower()
    if "fsdp2" in row.text("source").lower():
        return ZERO3
    for name in reversed(SHARDING):
        if name in text or (name == "zero3" and "fsdp" in text):
            return SHARDING.index(name)
    if facts.engine in ("swift-megatron", "megatron") or facts.engine.startswith("bridge"):
        return SHARDING.index("zero1")
    return 0 if text or gpus <= 1 else SHARDING.index("zero3")


def _micro_batch(row: Row, facts: StackFacts, pp: int, assumed: list[str]) -> float:
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


def _longest(row: Row, facts: StackFacts, assumed: list[str]) -> float:
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
    if stated and facts.engine.startswith("swift") and "packing=no" in notes:
        assumed.append("longest sample shorter than the cap")
        return max(min(stated, UNPACKED_LENGTH), 1.0)
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


def _optimizer(
    text: str, args: Mapping[str, str], facts: StackFacts, sharding: int, calibration: Calibration
) -> str:
    if args.get("optimizer") in ("muon", "sgd"):
        return args["optimizer"]
    in_place = facts.engine in calibration.memory["trains_in_place"]
    in_place = in_place and not (facts.engine == "swift" and sharding)
    eight = re.search(r"adam\w* ?8bit|8-?bit adam", text) is not None
    if re.search(r"optimizer in backward|optimizer step fused", text) and "drop optimizer-in-backward" not in text:
        return "paged_in_backward" if "paged" in text else "8bit_in_backward" if eight else "in_backward"
    if eight and "drop optimizer-in-backward and 8-bit" not in text:
        return "adamw_8bit_bf16" if in_place else "adamw_8bit"
    if "galore" in text:
        return "galore"
    if facts.engine == "megatron-deepspeed" and "rebalancing layers" in text:
        return "accumulated"
    return "adamw_bf16" if in_place else "adamw"


def _offload(text: str) -> int:
    if re.search(r"cpu offload of weights|full offload|cpu offload with|offload.{0,12}param", text):
        return 2
    return int(re.search(r"optimizer[ _]offload|zero\d?-?offload|offload optimizer|cpu offload|_offload\.sh", text) is not None)


def _base_bytes(row: Row, method: str, calibration: Calibration) -> float:
    """Bytes of a frozen weight; prime-rl keeps its base in fp32 as it does trained weights."""
    if method == "qlora":
        return float(calibration.size_bytes("int4"))
    return 4.0 if row.text("framework").startswith("prime-rl") else 2.0


def _rank(row: Row, model: Model, facts: StackFacts) -> float:
    """Rank on all linear layers that has as many parameters as the row trains."""
    notes = row.text("notes")
    shape = ModelShape.of(model)
    per_rank = float(shape.lora_params(1))
    found = TRAINED.search(notes)
    if found:
        return float(found[1].replace(",", "")) / per_rank
    stated = RANK.search(notes)
    rank = row.number("lora_rank") or (float(stated[1]) if stated else DEFAULT_RANK)
    if "lora (emb)" in notes.lower():
        return rank + TABLE_STATES * float(shape.embedding + shape.head) / per_rank
    return rank * _targets(notes, model)


def _targets(notes: str, model: Model) -> float:
    """Share of a layer's inputs that the named targets read, of those of all linear layers."""
    found = TARGETS.search(notes)
    if not found:
        return 1.0
    named = set(found[1].split("+"))
    if not named <= WIDTHS.keys() or not model.ffn:
        return 1.0
    read = sum(WIDTHS[name] for name in named) * model.hidden + (model.ffn if "mlp" in named else 0)
    return min(read / (5.0 * model.hidden + model.ffn), 1.0)


def _model(row: Row, catalog: Catalog) -> Model | str:
    """The row's model; layers follow from stated parameters and width where they are missing."""
    found = find_model(row, catalog)
    stated, hidden = (row.number("params_b") or 0.0) * 1e9, row.number("hidden")
    if isinstance(found, str) and stated and hidden:
        per_layer = 12.0 * hidden * hidden
        layers = round((stated - (row.number("vocab") or 0.0) * hidden) / per_layer)
        found = find_model(Row(row.line, {**row.cells, "layers": str(max(layers, 1))}), catalog)
    if isinstance(found, Model) and found.params_basis == "inline" and stated:
        if abs(found.params / stated - 1.0) > DISAGREEMENT:
            return replace(found, params=stated, active_params=stated)
    return found


def _is_spread(model: Model, method: str, sharding: int, degrees: Mapping[str, int], facts: StackFacts) -> bool:
    """Whether one copy of the frozen base cannot stand on one GPU, so that its layers must be spread over several."""
    base = model.params * (0.55 if method == "qlora" else 2.0) / GIB
    alone = degrees["tp"] == degrees["pp"] == degrees["ep"] == 1 and degrees["dp"] > 1
    return method != "full" and sharding == 0 and alone and base > LARGEST_BASE_GIB


__all__ = ["Fields", "fields_of"]
