"""One generation row read: engine, degrees, precisions, lengths and load, with documented defaults for blanks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rlopt.facts import Model
from rlopt.facts.calibration import Calibration
from rlopt.measured.names import MeasuredMachine
from rlopt.measured.rows import MeasuredRow
from rlopt.units import GIB

SIXTEEN_BITS = ("bf16", "fp16", "float16", "bfloat16", "half", "fp32", "bf16?", "bf16 (not stated)", "16")
MLPERF_SHARE = 0.55
"""Share of the memory that weights may take before another GPU is joined, where the degree is not stated."""
MLPERF_TOKENS = {"llama2-70b": (294.0, 294.5), "llama3.1-405b": (9428.0, 684.0), "llama3.1-8b": (778.0, 128.0),
                 "mixtral": (425.0, 145.0), "deepseek-r1": (820.0, 3880.0), "gptj": (778.0, 69.0)}  # fmt: skip
"""Mean prompt and response tokens of the MLPerf Inference tasks whose files leave them out."""
PROMPT, RESPONSE = 200.0, 800.0
"""Tokens where a row states none."""
BEAMS = 4.0
"""MLPerf's GPT-J task decodes four beams for each summary that is returned."""
NOMINAL = 0.9
"""Mean of lengths drawn between 0.8 and 1.0 of the nominal one."""
LONGEST = 8.0
"""Longest response of chat requests, times the mean."""
SPARSE_TOKENS = 2048.0
"""Tokens that DeepSeek's sparse attention picks for each query (V3.2; GLM-5 likewise)."""
SPARSE_MODELS = ("DeepSeek-V3.2", "GLM-5")
EXPERTS_ALONE = ("gpt-oss", "Kimi")
"""Models whose 4-bit checkpoints keep everything outside the experts at 16 bits."""
EIGHT_BIT_CACHE = ("trt-llm", "trt-llm-main", "trt-llm-server", "trt-llm-static", "mlperf-nvidia", "mlperf-amd")
"""Engines whose recipes for quantised weights quantise the cache as well."""


@dataclass(frozen=True, slots=True)
class Cells:
    """What one row says; ``assumed`` names the defaults taken."""

    engine: str
    version: str
    format: str
    tp: float
    ep: float
    replicas: float
    precision: str
    dense_precision: str
    kv_bytes: float
    block_scaled: bool
    sparse_tokens: float
    beams: float
    prompt: float
    response: float
    longest: float
    concurrency: float
    requests: float
    assumed: tuple[str, ...]


def cells_of(row: MeasuredRow, model: Model, machine: MeasuredMachine, calibration: Calibration) -> Cells:
    """Read one row."""
    assumed: list[str] = []
    engine = printed_engine(row, f"{machine.device.generation} {machine.device.name}", calibration)
    precision, block = weight_precision(row, machine, assumed)
    dense = "bf16" if precision in ("fp4", "int4") and model.name.startswith(EXPERTS_ALONE) else precision
    if model.name.startswith("gpt-oss") and precision != "bf16":
        precision, dense = "fp4", "bf16"
    tp, ep, gpus = degrees(row, model, machine, calibration.size_bytes(precision), assumed)
    prompt, response, varied = lengths(row, assumed)
    concurrency, requests = load(row, assumed)
    burst = math.isfinite(requests)
    return Cells(
        engine=engine,
        version=row.text("version").lower(),
        format=weight_format(row, precision, block),
        tp=tp,
        ep=ep,
        replicas=max(gpus / max(tp, ep), 1.0),
        precision=precision,
        dense_precision=dense,
        kv_bytes=cache_bytes(row, engine, precision),
        block_scaled=block,
        sparse_tokens=SPARSE_TOKENS if model.name in SPARSE_MODELS else np.inf,
        beams=BEAMS if row.text("model").lower().startswith("gptj") else 1.0,
        prompt=prompt,
        response=response,
        longest=response * LONGEST if burst and varied else response,
        concurrency=concurrency,
        requests=requests,
        assumed=tuple(assumed),
    )


@lru_cache(maxsize=4)
def _printed(lines: tuple[tuple[str, str, str, str], ...]) -> tuple[tuple[re.Pattern[str], ...], ...]:
    return tuple(tuple(re.compile(pattern or ".*") for pattern in line[:3]) for line in lines)


def printed_engine(row: MeasuredRow, gpu: str, calibration: Calibration) -> str:
    """Row of the engine table for a row's engine and version, by the calibration's list of spellings."""
    lines = tuple(tuple(str(cell) for cell in line) for line in calibration.generation["printed"])
    printed = (row.text("engine").lower() or row.text("framework").lower(), row.text("version").lower(), gpu)
    for line, patterns in zip(lines, _printed(lines), strict=True):
        if all(pattern.fullmatch(text) for pattern, text in zip(patterns, printed, strict=True)):
            return line[3]
    return "unknown"


def weight_precision(row: MeasuredRow, machine: MeasuredMachine, assumed: list[str]) -> tuple[str, bool]:
    """Precision of the weights, and whether 8-bit weights carry a scale per block."""
    text = row.text("weight_precision").lower()
    eight = machine.device.tflops.get("fp8") is not None
    if text in ("", "unset", "fp32") or text in ("not stated", "unknown"):
        if "mlperf" not in row.text("engine").lower():
            assumed.append("16-bit weights")
            return "bf16", False
        found = "fp4" if machine.device.generation == "Blackwell" else "fp8" if eight else "int8"
        assumed.append(f"{found} weights")
        return found, False
    if "int4" in text or "4bit" in text or "bitsandbytes" in text or "w4a16" in text:
        return "int4", False
    if "int8" in text or "w8a16" in text:
        return "int8", False
    if "fp4" in text:
        return "fp4", False
    if "fp8" in text:
        return ("fp8" if eight else "int8"), "block" in text
    return "bf16", False


def weight_format(row: MeasuredRow, precision: str, block: bool) -> str:
    """Weight format as kernels know it."""
    text = row.text("weight_precision").lower()
    if precision == "int4":
        return next((name for name in ("awq", "gptq") if name in text), "int4")
    if "fp8" in text:
        return "fp8-block" if block else "fp8"
    return "mxfp4" if "mxfp4" in text else precision


def cache_bytes(row: MeasuredRow, engine: str, precision: str) -> float:
    """Bytes of a cached value: stated, or by the engine's habit."""
    text = row.text("kv_precision").lower()
    if "8" in text:
        return 1.0
    if text in ("", "auto", "-") and engine in EIGHT_BIT_CACHE and precision in ("fp8", "fp4"):
        return 1.0
    return 2.0


def degrees(
    row: MeasuredRow, model: Model, machine: MeasuredMachine, size: float, assumed: list[str]
) -> tuple[float, float, float]:
    """(tp, ep, GPUs) as the estimates mean them: ep > tp is attention data-parallel over the experts' group.

    Files of derived latencies count a replica twice where experts are spread (tp 16, ep 4 and 16 GPUs for four
    GPUs: the same run stands there as tp 4, ep 4), and write racks of attention-parallel GPUs as tp = GPUs.
    """
    tp, ep = row.number("tp"), row.number("ep") or 1.0
    gpus = row.number("gpus") or tp or 1.0
    notes = row.text("notes").lower()
    stated = re.search(r"attention_dp=(\d+)", notes)
    groups = float(stated.group(1)) if stated else _attention_groups(notes)
    if tp is None or tp <= 0:
        tp = _smallest(model, machine, size, gpus)
        assumed.append(f"tp {tp:g}")
        return tp, 1.0, gpus
    if stated:
        tp, ep, gpus = _counted_once(tp, ep, gpus, groups, model.params * size / (machine.device.memory_gib * GIB))
        if tp > machine.gpus_per_node and tp == gpus and model.is_moe:
            return 1.0, gpus, gpus
    elif groups > 1.0 and model.is_moe and tp > 1.0:  # tp GPUs of which groups attend apart
        return max(tp / groups, 1.0), tp, gpus
    return min(tp, gpus), (min(max(ep, 1.0), gpus) if model.is_moe else 1.0), max(gpus, tp)


def _counted_once(tp: float, ep: float, gpus: float, groups: float, full: float) -> tuple[float, float, float]:
    """Degrees with a replica's GPUs counted once; ``full``: GPUs whose memory the weights alone would fill."""
    if ep > 1.0 and ep * ep == gpus and ep > full:
        if groups > 1.0 or tp == 1.0:
            return 1.0, ep, ep
        if tp == gpus:
            return ep, ep, ep
    if groups > 1.0 and groups == tp and tp * tp == gpus and tp > full:
        return 1.0, tp, tp
    if groups > 1.0 and tp == 1.0:
        return 1.0, groups, max(gpus, groups) if groups * groups != gpus else groups
    return tp, ep, gpus


def _attention_groups(notes: str) -> float:
    """Attention data-parallel groups that a printed command line asks for."""
    if "--enable-dp" not in notes and "--data-parallel" not in notes and "-dp " not in notes:
        return 1.0
    found = re.search(r"--(?:dp|dp-size|data-parallel-size)[ =]+(\d+)", notes)
    return float(found.group(1)) if found else 1.0


def _smallest(model: Model, machine: MeasuredMachine, size: float, gpus: float) -> float:
    tp = 1.0
    most = min(gpus, float(machine.gpus_per_node))
    while tp * 2.0 <= most and model.params * size / tp > MLPERF_SHARE * machine.device.memory_gib * GIB:
        tp *= 2.0
    return tp


def lengths(row: MeasuredRow, assumed: list[str]) -> tuple[float, float, bool]:
    """Mean prompt and response tokens, and whether they vary from request to request."""
    task = next((v for k, v in MLPERF_TOKENS.items() if row.text("model").lower().startswith(k)), None)
    prompt, response = row.number("input_len"), row.number("output_len")
    if prompt is None:
        prompt = task[0] if task else PROMPT
        assumed.append(f"prompts of {prompt:g} tokens")
    if response is None:
        response = task[1] if task else RESPONSE
        assumed.append(f"responses of {response:g} tokens")
    nominal = NOMINAL if "0.8-1.0 of nominal" in row.text("notes") else 1.0
    varied = prompt % 1.0 > 0.0 or response % 1.0 > 0.0 or "sharegpt" in row.text("notes").lower()
    return max(prompt * nominal, 1.0), max(response * nominal, 1.0), varied


def load(row: MeasuredRow, assumed: list[str]) -> tuple[float, float]:
    """(concurrency, requests of a burst): infinite where there is none."""
    stated = row.number("batch_or_concurrency")
    notes = row.text("notes").lower()
    burst = re.search(r"(\d+) (?:requests|prompts) at once|num_prompts=(\d+)|(\d+) requests x", notes)
    if burst:
        requests = float(next(group for group in burst.groups() if group))
        return (stated if stated is not None and stated < requests else np.inf), requests
    if stated is not None and stated > 0:
        return stated, np.inf
    if row.text("max_throughput_mode").lower() != "y":
        assumed.append("one sequence at a time")
        return 1.0, np.inf
    return np.inf, np.inf
