"""Seconds to sample one step's responses.

A decode step over b sequences of context c takes the sum of weight and cache reads, FLOPs, collectives and host time
(Pope et al., 2022, in sum form). A synchronous batch ends with its longest response: the queue runs at full width,
then the width follows the survival of a censored lognormal length,

    T = (n - b) / b · r · step(b) + integral over x from 0 to Lmax of step(b · S(x), p + x)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from rlopt.estimates.arrays import BYTES, Floats, Hardware, Ints
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.memory import kv_gib_per_token
from rlopt.estimates.shape import ModelShape
from rlopt.units import GIB

NODES = 5
MICRO = 1e-6
SMALL_MEMORY_GIB = 70.0
MOST_SHARED = 8


@dataclass(frozen=True, slots=True)
class GenerationTime:
    """Seconds of one step, sequences running at once per replica, share of the time that the batch is full; (n,)."""

    seconds: Floats
    running: Floats
    utilization: Floats


@lru_cache(maxsize=256)
def survival(mean: float, longest: float, samples: float, cv: float) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Gauss-Legendre nodes: lengths x, shares still running S(x), and the length Lmax of the longest of all.

    Lengths follow a lognormal of coefficient of variation ``cv``, cut at ``longest``, whose cut mean is ``mean``.
    """
    if longest <= mean * (1 + 1e-9):
        return tuple(longest * w for w in (0.5,)), (1.0,), longest
    s = math.sqrt(math.log(1.0 + cv * cv))
    normal = NormalDist()

    def cut_mean(mu: float) -> float:
        a = (math.log(longest) - mu) / s
        return math.exp(mu + s * s / 2) * normal.cdf(a - s) + longest * (1.0 - normal.cdf(a))

    low, high = math.log(mean) - 3 * s, math.log(longest) + 6 * s
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if cut_mean(middle) < mean else (low, middle)
    mu = (low + high) / 2
    last = min(longest, math.exp(mu + s * normal.inv_cdf(samples / (samples + 1.0))))
    last = max(last, mean)
    nodes, _ = np.polynomial.legendre.leggauss(NODES)
    lengths = tuple(last * (1.0 + float(x)) / 2.0 for x in nodes)
    alive = tuple(1.0 - normal.cdf((math.log(x) - mu) / s) for x in lengths)
    return lengths, alive, last


@dataclass(frozen=True, slots=True)
class _Step:
    """Coefficients of a decode step, shape (n,) each: fixed + slope · b + cache · b · c + experts(b)."""

    fixed: Floats
    slope: Floats
    cache: Floats
    expert_read: Floats
    experts: int
    active: int

    def seconds(self, running: Floats, context: Floats) -> Floats:
        found = self.fixed + self.slope * running + self.cache * running * context
        if self.experts:
            touched = self.experts * (1.0 - (1.0 - self.active / self.experts) ** running)
            found = found + self.expert_read * touched
        return found


def _flops_share(precision: str, hardware: Hardware, calibration: Calibration) -> Floats:
    key = {"fp8": "flops_8", "int8": "flops_8", "fp4": "flops_4", "int4": "flops_16"}.get(precision, "flops_16")
    return calibration.by_generation("generation", key, hardware.generation)


def decode_step(shape: ModelShape, hardware: Hardware, tp: Floats, precision: str, calibration: Calibration) -> _Step:
    """Coefficients of one decode step of a replica of ``tp`` GPUs."""
    constants, model = calibration.generation, shape.model
    bandwidth = hardware.hbm_gb_s * 1e9
    weight_rate = bandwidth * calibration.by_generation("generation", "weight_bandwidth", hardware.generation)
    size = BYTES[precision]
    dense_bytes = shape.dense * size + shape.head * max(size, 2.0)
    compute = hardware.peak("bf16" if precision == "int4" else precision) * _flops_share(precision, hardware, calibration)
    device = constants["device_factor"] * (constants["weight_only_factor"] if precision in ("int4", "int8") else 1.0)
    fixed = device * dense_bytes / tp / weight_rate
    slope = device * (2.0 * (shape.dense + shape.head) / tp / compute
                      + constants["activation_bytes"] * shape.layers * shape.hidden / bandwidth)
    kv_rate = bandwidth * calibration.by_generation("generation", "kv_bandwidth", hardware.generation)
    cache = device * constants["kv_factor"] * kv_gib_per_token(shape, tp) * GIB / kv_rate
    expert_read = np.zeros(len(hardware.hbm_gb_s))
    if shape.moe:
        moe_rate = bandwidth * calibration.by_generation("generation", "moe_bandwidth", hardware.generation)
        moe_compute = hardware.peak("bf16" if precision == "int4" else precision) * calibration.by_generation(
            "generation", "moe_flops", hardware.generation)
        per_expert = shape.experts_total / model.experts
        expert_read = device * per_expert * size / tp / moe_rate
        slope = slope + device * 2.0 * shape.experts_active / tp / moe_compute
    inside = tp <= hardware.gpus_per_node
    link = np.where(hardware.nvlink, hardware.link_gb_s * constants["link_share"],
                    np.minimum(hardware.link_gb_s, float(constants["pcie_gb_s"]))) * 1e9
    link = link * np.where(inside, 1.0, constants["cross_node_share"])
    latency = np.where(hardware.nvlink, constants["allreduce_a"], constants["allreduce_pcie_a"]) * (3.5 + 2.0 * tp) * MICRO
    several = tp > 1
    fixed = fixed + np.where(several, 2.0 * shape.layers * latency, 0.0)
    slope = slope + np.where(several, 2.0 * shape.layers * 2.0 * (tp - 1) / tp * shape.hidden * 2.0 / link, 0.0)
    factor = 1.0 + (constants["layer_moe"] if shape.moe else 0.0) + (constants["layer_mla"] if model.mla else 0.0)
    fixed = fixed + constants["step_s"] + constants["layer_s"] * shape.layers * factor
    slope = slope + constants["sequence_s"]
    return _Step(fixed, slope, cache, expert_read, model.experts, model.active_experts)


def prefill_seconds(shape: ModelShape, hardware: Hardware, tp: Floats, precision: str, prompt: float,
                    calibration: Calibration) -> Floats:
    """Seconds to read one prompt: FLOPs at the prefill rate, causal attention at half of it."""
    compute = hardware.peak("bf16" if precision == "int4" else precision) * _flops_share(precision, hardware, calibration)
    linear = 2.0 * (shape.dense + shape.experts_active) * prompt
    attention = 2.0 * prompt * shape.attention_width * prompt * shape.attention_layers
    return calibration.generation["prefill_factor"] * (linear + 2.0 * attention) / tp / compute


def generation_seconds(shape: ModelShape, hardware: Hardware, tp: Floats | Ints, precision: str, kv_gib: Floats,
                       prompt: tuple[float, float], response: tuple[float, float], per_replica: Floats,
                       total: float, group_size: int, tail: bool, calibration: Calibration) -> GenerationTime:
    """Seconds of one step's sampling on every replica of ``tp`` GPUs with ``kv_gib`` of cache room per GPU.

    ``prompt`` and ``response`` are (mean, longest) tokens, ``per_replica`` the sequences each replica samples,
    ``total`` all of them. ``tail`` False is steady state (asynchronous): nothing waits for the longest response.
    Infinite where not even one longest sequence fits.
    """
    constants = calibration.generation
    ways = np.asarray(tp, dtype=np.float64)
    per_token = kv_gib_per_token(shape, ways)
    reserve = prompt[0] + constants["kv_reserve"] * response[0]
    room = np.floor(kv_gib / (per_token * reserve))
    longest_fits = kv_gib >= per_token * (prompt[1] + response[1])
    cap = np.where(hardware.memory_gib >= SMALL_MEMORY_GIB, constants["sequences_cap"], constants["sequences_cap_small"])
    asked = np.maximum(per_replica, 1.0)
    running = np.maximum(np.minimum(np.minimum(asked, cap), room), 1.0)
    step = decode_step(shape, hardware, ways, precision, calibration)
    middle = prompt[0] + response[0] / 2.0
    steady = step.seconds(running, np.full_like(running, middle))
    queue = (asked - running) / running * response[0] * steady
    if tail:
        lengths, alive, last = survival(float(response[0]), float(response[1]), float(total), float(constants["length_cv"]))
        weights = np.polynomial.legendre.leggauss(len(lengths))[1] / 2.0 * last
        drain = np.zeros_like(steady)
        for x, s, w in zip(lengths, alive, weights, strict=True):
            drain += w * step.seconds(np.maximum(running * s, 1.0), np.full_like(running, prompt[0] + x))
    else:
        drain = response[0] * steady
    shared = min(group_size, MOST_SHARED)
    prefill = asked / shared * prefill_seconds(shape, hardware, ways, precision, prompt[0], calibration)
    prefill = prefill + asked * constants["request_s"]
    factor = constants["rl_moe_factor"] if shape.moe else constants["rl_factor"]
    seconds = (queue + drain + prefill) * factor
    full = response[0] * steady * asked / running
    return GenerationTime(np.where(longest_fits, seconds, np.inf), running, np.minimum(full / np.maximum(queue + drain, 1e-12), 1.0))
