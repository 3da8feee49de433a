"""What the words of a row say of precision, kernel, optimizer and adapters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlopt.estimates import Calibration, ModelShape
from rlopt.facts import Model
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.stacks import StackFacts

QUANTISED = re.compile(r"\b(int4|nf4|4-?bit|awq|gptq|qlora)\b", re.IGNORECASE)
OLD_CONTAINER = re.compile(r"golden_values_(lts_[a-z0-9]*_dracooci|dev_dgxa100_dracooci|lts_)")
TRAINED = re.compile(r"trainable (\d[\d,]+)")
TARGETS = re.compile(r"lora_r=\d+ on ([a-z+]+)")
WIDTHS = {"query": 1, "key": 1, "value": 1, "projection": 1, "mlp": 1, "head": 0}
"""Inputs as wide as the model that an adapter on each target reads."""
TABLE_STATES = 0.75
"""Tables trained beside adapters have bf16 weights and gradients and fp32 moments: 12 of an adapter's 16 bytes."""
RANK = re.compile(r"(?:lora_r(?:ank)?|lora r|\brank|\br)[=_ -]?(\d+)", re.IGNORECASE)
DEFAULT_RANK = 16
PEFT_RANK = re.compile(r"-rank(\d+)")
NOMINAL_RANK = 8.0
"""Rank of adapters whose parameters alone are stated: the default of litgpt and PEFT."""
LEAST_TARGETS = 0.05


def method_of(row: MeasuredRow) -> str:
    """Full | lora | qlora; adapters on a quantised base are qlora whatever the row calls them."""
    text = row.text("method").lower()
    if "qlora" in text or ("lora" in text and QUANTISED.search(f"{row.text('precision')} {row.text('model')}")):
        return "qlora"
    return "lora" if "lora" in text else "full"


def precision_of(row: MeasuredRow) -> str:
    """Of the products: fp32, fp8, fp4, else bf16, which fp16 equals in memory."""
    text = row.text("precision").lower()
    if "fp4" in text and "nf4" not in text:
        return "fp4"
    if "fp8" in text:
        return "fp8"
    return "fp32" if text.startswith("fp32") else "bf16"


def fused_of(row: MeasuredRow, args: Mapping[str, str], facts: StackFacts) -> bool:
    """Whether attention never holds its scores.

    Megatron's old containers had no fused kernel for deterministic runs.
    """
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


def optimizer_of(
    text: str,
    args: Mapping[str, str],
    facts: StackFacts,
    sharding: int,
    calibration: Calibration,
    too_large: bool,
) -> str:
    """What the row says of its optimizer, else what its engine trains with."""
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
    return ("paged" if too_large else "adamw_bf16") if in_place else "adamw"


def offload_of(text: str) -> int:
    """Code of what lives in host memory during training."""
    if re.search(r"cpu offload of weights|full offload|cpu offload with|offload.{0,12}param", text):
        return 2
    states = r"optimizer[ _]offload|zero\d?-?offload|offload optimizer|cpu offload|_offload\.sh"
    return int(re.search(states, text) is not None)


def base_bytes_of(row: MeasuredRow, method: str, calibration: Calibration) -> float:
    """Bytes of a frozen weight; prime-rl keeps its base in fp32 as it does trained weights."""
    if method == "qlora":
        return float(calibration.size_bytes("int4"))
    return 4.0 if row.text("framework").startswith("prime-rl") else 2.0


def rank_of(row: MeasuredRow, model: Model) -> float:
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
    return rank * targets_of(notes, model)


def targets_of(notes: str, model: Model) -> float:
    """Share of a layer's inputs that the named targets read, of those of all linear layers."""
    found = TARGETS.search(notes)
    trained = TRAINED.search(notes)
    if not found and trained:  # as many parameters as a part of the layers would have at the nominal rank
        nominal = PEFT_RANK.search(notes)
        rank = float(trained[1].replace(",", "")) / float(ModelShape.of(model).lora_params(1))
        return float(min(max(rank / (float(nominal[1]) if nominal else NOMINAL_RANK), LEAST_TARGETS), 1.0))
    if not found:
        return 1.0
    named = set(found[1].split("+"))
    if not named <= WIDTHS.keys() or not model.ffn:
        return 1.0
    read = sum(WIDTHS[name] for name in named) * model.hidden + (model.ffn if "mlp" in named else 0)
    return min(read / (5.0 * model.hidden + model.ffn), 1.0)
