"""Rows of an RL file whose job only trains: the same cells under the column names of training files."""

from __future__ import annotations

import re
from dataclasses import replace

from rlopt.facts.stacks import LoopTable
from rlopt.measured.rows import MeasuredRow

TRAINS = re.compile(r"\bsft\b|micro-batch|\bdpo\b|reward-model|imitation", re.IGNORECASE)
SAMPLES = re.compile(r"8-stage rl|\+ ?rl", re.IGNORECASE)
MICRO = re.compile(r"\b(?:mbs|batch|micro(?: batch)?) (\d+)\b", re.IGNORECASE)
ACCUMULATED = re.compile(r"\b(?:grad_accum|ga) (\d+)", re.IGNORECASE)
VIRTUAL = re.compile(r"\bVP (\d+)", re.IGNORECASE)
RECOMPUTED = re.compile(r"\bAC=(?:recompute|offload)|gc true", re.IGNORECASE)
NOT_RECOMPUTED = re.compile(r"gc false", re.IGNORECASE)
QUANTISED, ADAPTERS = re.compile("qlora", re.IGNORECASE), re.compile("lora", re.IGNORECASE)
SAME = ("id", "model", "gpu", "gpus", "params_b", "source", "framework", "layers", "hidden")
TOKENS, STEP, UPDATE = "tokens_per_s_per_gpu", "step_time_s", "train_time_s"
DATA_LENGTHS = re.compile(r"dataset-dependent lengths", re.IGNORECASE)


def is_trainer(row: MeasuredRow) -> bool:
    """Whether the job samples nothing: SFT, preference data, a reward model, a trainer's micro-batch."""
    algorithm = row.text("algorithm")
    return bool(TRAINS.search(algorithm)) and not SAMPLES.search(algorithm)


def training_row(row: MeasuredRow, loops: LoopTable) -> MeasuredRow | str:
    """The row under the columns of training files, or why it cannot be one."""
    notes, algorithm = row.text("notes"), row.text("algorithm")
    if DATA_LENGTHS.search(notes):
        return "how long the sequences are depends on the data and is not stated"
    micro_step = "micro-batch" in algorithm.lower()
    told = loops.trainers.get(row.text("framework").lower(), {})
    length = row.text("response_len_max") or row.text("prompt_len") or told.get("seq_len", "")
    micro = _found(MICRO, notes) or told.get("micro_batch", "")
    batch = row.text("global_train_batch")
    if not batch and micro_step:
        batch, micro = row.text("gpus"), "1"
    if not batch and micro:
        batch = f"{float(micro) * float(_found(ACCUMULATED, notes) or 1) * (row.number('gpus') or 1):g}"
    asked = row.quantity or (STEP if row.has(STEP) else TOKENS)
    asked = STEP if asked == UPDATE else asked
    if asked not in (STEP, TOKENS):
        return "neither the steps nor their tokens are stated"
    if asked == STEP and not (batch and length):
        return "the batch or the length of its sequences is not stated"
    cells = {name: row.text(name) for name in SAME}
    cells |= {
        "tp": row.text("train_tp"),
        "pp": row.text("train_pp"),
        "cp": row.text("train_cp"),
        "ep": row.text("train_ep"),
        "vp": _found(VIRTUAL, notes),
        "sharding": row.text("train_backend"),
        "precision": row.text("train_precision"),
        "micro_batch": micro,
        "global_batch": batch,
        "seq_len": length,
        "method": _method(algorithm, notes),
        "activation_recompute": "full" if RECOMPUTED.search(notes) else "none" if NOT_RECOMPUTED.search(notes) else "",
        "notes": f"{notes} | release {row.text('version')}" if row.text("version") else notes,
    }
    return replace(row, cells=cells, quantity=asked)


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _method(algorithm: str, notes: str) -> str:
    text = algorithm if ADAPTERS.search(algorithm) else notes
    return "qlora" if QUANTISED.search(text) else "lora" if ADAPTERS.search(text) else "full"


__all__ = ["is_trainer", "training_row"]
