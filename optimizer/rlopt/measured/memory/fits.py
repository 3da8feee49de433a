"""Rows that say whether a configuration fits its GPUs: their cells in the terms of training rows, and all that stays.

Assumed where a cell is blank
-----------------------------
GPU memory              that of the named GPU; 80 GiB for ms-swift's examples, whose documents use such cards
GPUs                    none: there is no verdict without their number
lengths                 prompt + response, 1024 of each that is not stated; without either there is no verdict
micro-batch             the prompts of a GPU where a row states them; a group of 8 under TRL and its kin, else 1
expert parallelism      under Megatron as many ways as a stage has GPUs; with adapters four in a node, eight beyond
sharding                ZeRO-3 on several GPUs under the RL stacks, none on one
recomputation           full in RL loops and with ms-swift, LLaMA-Factory, unsloth
reference               frozen weights beside a fully trained policy of GRPO, PPO, DPO; adapters share theirs
critic and reward       PPO: as large as the policy; the critic trained in full
rollout engine          where a share of the memory or a colocated placement is stated; it sleeps during updates
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlopt.facts import Catalog
from rlopt.measured.names import find_machine
from rlopt.measured.rows import MeasuredRow

ENGINES = {
    "verl": "verl", "tinyzero": "verl", "prime-rl": "prime-rl", "nemo-rl": "megatron", "nemo-aligner": "megatron",
    "chatlearn": "megatron", "openrlhf": "hf", "trl": "hf", "deepspeed-chat": "hf", "alpaca-rlhf": "hf",
    "open-r1": "hf", "r1-v": "hf", "video-r1": "hf", "vlm-r1": "hf", "open-reasoner-zero": "hf", "modpo": "hf",
    "alignment-handbook": "hf", "axolotl": "hf", "starcoder": "hf", "trlx": "hf", "openvla": "peft",
    "unsloth": "unsloth", "rlinf": "fsdp",
    "llama-factory+unsloth": "unsloth", "llama-factory": "llama-factory", "torchtune": "torchtune",
}  # fmt: skip
"""Framework, as its name begins in lower case, to the family of training stacks."""
NO_LANGUAGE_MODEL = ("lerobot", "isaac-gr00t", "vla-scratch")
LOOPS = re.compile(r"grpo|dapo|ppo|\(rl\)|^rl\b", re.IGNORECASE)
PREFERENCES = re.compile(r"dpo|kto|\bgkd", re.IGNORECASE)
DYNAMIC = re.compile(r"(?<!without )dynamic batch", re.IGNORECASE)
PROMPTS = re.compile(r"prompts per GPU (\d+)")
EXPERTS = re.compile(r"\bEP(\d+)\b")
MOE = re.compile(r"-A\d+(\.\d+)?B|GLM-4\.[56]|DeepSeek-V|Mixtral|gpt-oss|Moonlight|moe", re.IGNORECASE)
SIZE_ALONE = re.compile(r"(VL-)?(\d+(?:\.\d+)?)B")
QWEN_SIZES = ("0.5", "1.5", "3", "7", "14", "32", "72")
OTHER_SIZES = {"8": "Meta-Llama-3.1-8B", "13": "Llama-2-13b-hf", "34": "CodeLlama-34b-hf", "70": "Meta-Llama-3.1-70B"}
SWIFT_GIB = 80.0
PATHS = re.compile(r"/(q?lora)\b|/tuners/(?!galore|lisa|badam|llamapro)")
"""Scripts of ms-swift that train adapters, whatever their other cells leave blank."""
NODE = 8
LONGEST = 10_000_000
HALF = 1024
"""Tokens of a prompt or a response that is not stated."""
ROBOT_LENGTH = 300
"""Tokens of OpenVLA's samples: 256 of an image and an instruction."""
HF_GROUP = 8
"""Completions that TRL's GRPO trains at once on a GPU by default."""


def capacity_gib(row: MeasuredRow, catalog: Catalog) -> float | None:
    """Memory of one GPU, GiB; ``None`` where it is not known."""
    stated = row.number("gpu_mem_gib")
    if stated:
        return stated
    machine = find_machine(row, catalog)
    if not isinstance(machine, str):
        return machine.device.memory_gib
    return SWIFT_GIB if row.text("framework") == "ms-swift" else None


def engine_of(row: MeasuredRow) -> str:
    """Family of training stacks; empty where the tables of sources decide."""
    framework = row.text("framework").lower()
    if row.text("sharding").lower() == "megatron" and framework.startswith("verl"):
        return "megatron"
    return next((engine for name, engine in ENGINES.items() if framework.startswith(name)), "")


def refused(row: MeasuredRow) -> str:
    """Why no model of a language model's training applies; empty where one does."""
    framework, sharding = row.text("framework").lower(), row.text("sharding").lower()
    gpus = row.number("gpus") or 1
    if "host ram" in row.text("notes").lower():
        return "host memory ran out, not the GPU's"
    if framework.startswith(NO_LANGUAGE_MODEL):
        return "a robot policy: no shape is known"
    if row.text("gpu") == "(total)":
        return "an estimate over all GPUs of its source, not a run"
    if row.text("result") and not row.has("gpus"):
        return "the number of GPUs is not stated"
    if gpus == 1 and ("zero" in sharding or sharding == "megatron") and not row.number("tp"):
        return "sharded over GPUs whose number is not stated"
    if gpus > 8 and engine_of(row) == "megatron" and not row.number("tp") and not row.number("pp"):
        return "how the model is split over several nodes is not stated"
    if DYNAMIC.search(row.text("notes")) and not row.number("micro_batch"):
        return "its micro-batches change their size, and the largest is not stated"
    return ""


def lacks_length(row: MeasuredRow) -> bool:
    """Whether no length of a sequence is stated where one decides."""
    stated = any(row.number(column) for column in ("seq_len", "prompt_len", "response_len"))
    return not stated and (is_loop(row) or row.text("framework") not in ("ms-swift", "torchtune"))


def round_figure(row: MeasuredRow) -> bool:
    """Whether the printed peak may be the card's capacity and no peak."""
    return "may be card capacity" in row.text("notes")


def as_training_row(row: MeasuredRow) -> MeasuredRow:
    """The same row with the cells of a training row."""
    loop, notes = is_loop(row), row.text("notes")
    sharded = row.text("sharding").lower()
    engine, split = engine_of(row), sharded == "megatron" or engine_of(row) == "megatron"
    swapped = row.text("framework") == "verl" and row.text("offload_optimizer").lower() == "y"  # in for each update
    given = _yes(row, "offload_optimizer") and not swapped
    offload = " optimizer offload" if given or "offload" in sharded else ""
    chunked = " chunked" if loop and engine in ("verl", "fsdp", "prime-rl", "unsloth") else ""
    paged = " paged 8-bit adam, optimizer in backward" if engine == "torchtune" and _method(row) == "full" else ""
    cells: dict[str, str] = {
        **row.cells,
        "engine": engine,
        "method": _method(row),
        "gpus": row.text("gpus") if row.number("gpus") else "1",
        "sharding": _sharding(row, loop),
        "tp": row.text("tp") if split else "1",
        "pp": row.text("pp") if split else "1",
        "ep": _experts_ways(row) if split else "1",
        "cp": row.text("gpus") if "sequence_parallel" in row.text("source") else "1",
        "model": _model(row, loop),
        "seq_len": str(_length(row)),
        "micro_batch": _micro_batch(row, loop),
        "activation_recompute": _recompute(row, loop),
        "notes": notes + offload + chunked + paged + _packing(row),
    }
    if not row.has("lora_rank") or row.number("lora_rank") is None:
        cells["lora_rank"] = ""
    return MeasuredRow(row.line, cells, row.quantity)


def is_loop(row: MeasuredRow) -> bool:
    """Whether sampling stands beside training."""
    return LOOPS.search(row.text("algorithm")) is not None


def copies(row: MeasuredRow) -> Mapping[str, int]:
    """Models beside the trained one: frozen ones, and further trained ones."""
    algorithm = row.text("algorithm").lower()
    trainer_only = "trainer-only" in row.text("notes")
    lora = _method(row) != "full"
    if "ppo" in algorithm:
        return {"frozen": 1 if lora else 2, "trained": 0 if lora else 1}
    held = (is_loop(row) or PREFERENCES.search(algorithm) is not None) and not trainer_only
    return {"frozen": int(held and not lora), "trained": 0}


def _model(row: MeasuredRow, loop: bool) -> str:
    """The name; in RL loops a size alone means the model of that size that most of them train."""
    found = SIZE_ALONE.fullmatch(row.text("model"))
    if not (found and loop):
        return row.text("model")
    family = "Qwen2.5-VL" if found[1] else "Qwen2.5"
    return f"{family}-{found[2]}B" if found[2] in QWEN_SIZES else OTHER_SIZES.get(found[2], row.text("model"))


def _method(row: MeasuredRow) -> str:
    text = f"{row.text('algorithm')} {row.text('lora_rank')} {row.text('precision')}".lower()
    by_path = PATHS.search(row.text("source").lower())
    notes = row.text("notes").lower()
    whole = "full-parameter" in notes or "header: full" in notes or "/full" in row.text("source")
    adapters = "lora" in text or row.number("lora_rank") or row.text("lora_rank").lower() == "y"
    if whole or not (adapters or by_path):
        return "full"
    return "qlora" if re.search(r"qlora|int4|nf4", text) or (by_path and by_path[1] == "qlora") else "lora"


def _sharding(row: MeasuredRow, loop: bool) -> str:
    text = row.text("sharding").lower()
    if text == "megatron" or (not text and (row.number("tp") or 0) > 1 and engine_of(row) == "megatron"):
        return "megatron" if row.text("framework") == "ms-swift" else "megatron+zero1"
    if text:
        return text.replace("fsdp1", "fsdp").replace("-", "_")
    several = (row.number("gpus") or 1) > 1
    shards = loop or engine_of(row) in ("hf", "fsdp", "prime-rl", "verl")
    return "zero3" if several and shards and _method(row) == "full" else "ddp"


def _experts_ways(row: MeasuredRow) -> str:
    """Ways of expert parallelism: as stated, else as many as a stage has GPUs.

    Adapters leave room for fewer: four within a node, eight beyond.
    """
    stated = EXPERTS.search(row.text("notes"))
    if stated:
        return stated[1]
    if not MOE.search(row.text("model")):
        return "1"
    gpus = row.number("gpus") or 1
    most = gpus if _method(row) == "full" else 4 if gpus <= NODE else NODE
    return str(int(max(min(gpus / (row.number("pp") or 1), most), 1)))


def _micro_batch(row: MeasuredRow, loop: bool) -> str:
    """Sequences of a micro-batch: the prompts of a GPU, what is stated (pairs count twice), or a whole group."""
    prompts = PROMPTS.search(row.text("notes"))
    if prompts:
        return prompts[1]
    stated = row.text("micro_batch").split("/")[-1]
    stated = stated if stated.isdigit() else ""
    if "dpo" in row.text("algorithm").lower():
        return str(2 * int(stated or 1))
    if not stated and loop and engine_of(row) == "hf":
        return row.text("k") or str(HF_GROUP)
    return stated


def _length(row: MeasuredRow) -> int:
    stated = row.number("seq_len")
    prompt, response = row.number("prompt_len"), row.number("response_len")
    if max(stated or 0.0, prompt or 0.0, response or 0.0) > LONGEST:
        return LONGEST + 1  # a slip, refused as such where counts are read
    if prompt or response:
        return int(max(stated or 0, (prompt or HALF) + (response or HALF)))
    robot = row.text("framework").lower().startswith("openvla")
    return int(stated or (ROBOT_LENGTH if robot else 2 * HALF))


def _recompute(row: MeasuredRow, loop: bool) -> str:
    text = row.text("activation_checkpointing").lower()
    if text in ("y", "true", "full", "recompute", "offload"):
        return "full"
    if text in ("selective", "none"):
        return text
    return "full" if loop or row.text("framework") in ("ms-swift", "LLaMA-Factory", "unsloth", "OpenRLHF") else ""


def _packing(row: MeasuredRow) -> str:
    several = (row.number("micro_batch") or 1) >= 4
    short = several and row.text("algorithm") in ("SFT", "SEQ_CLS", "EMBEDDING", "DPO")
    return "; packing=no" if row.text("framework") == "ms-swift" and short else ""


def _yes(row: MeasuredRow, column: str) -> bool:
    text = row.text(column).lower()
    return text == "y" or (row.number(column) or 0.0) > 0.0


__all__ = [
    "as_training_row",
    "capacity_gib",
    "copies",
    "engine_of",
    "is_loop",
    "lacks_length",
    "refused",
    "round_figure",
]
