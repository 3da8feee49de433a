"""Seconds of one decode step, and of reading a prompt.

A step over b sequences of context c takes the *sum* of weight and cache reads, FLOPs, collectives and host
time: the roofline maximum (Pope et al., 2022) is only a lower bound, and the constants were fitted to the
sum. No rate exceeds the nameplate: shares of bandwidth and peak are cut at `most_of_nameplate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import WEIGHT_ONLY, Floats, Hardware, Ints
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import GENERATIONS
from rlopt.estimates.communication import outside_bytes_s, over
from rlopt.estimates.rollout_memory import kv_gib_per_token
from rlopt.estimates.shape import ModelShape
from rlopt.units import GIB, GIGA

SIXTEEN = 2.0
CALLS = 2.0
"""All-reduces of a layer: after attention and after the feed-forward block."""


@dataclass(frozen=True, slots=True)
class DecodeStep:
    """Coefficients of a step, shape (n,) each: fixed + slope · b + cache · b · kept(c) + experts(b)."""

    shape: ModelShape
    fixed: Floats
    slope: Floats
    cache: Floats
    expert_read: Floats

    def seconds(self, running: Floats, context: Floats | float) -> Floats:
        """Seconds of a step over ``running`` sequences of ``context`` tokens."""
        shape = self.shape
        kept = (
            context
            if not shape.window_layers
            else np.asarray(
                (shape.attention_layers * np.asarray(context) + shape.window_layers * np.minimum(context, shape.window))
                / (shape.attention_layers + shape.window_layers)
            )
        )
        found = self.fixed + running * (self.slope + self.cache * kept)
        if shape.moe:
            found = found + self.expert_read * touched_experts(shape, running)
        return np.asarray(found)


def touched_experts(shape: ModelShape, running: Floats) -> Floats:
    """Expected distinct experts of a layer that ``running`` tokens visit.

    E (1 - (1 - k / E)^b), uniform routing.
    """
    missed = np.log1p(-min(shape.active_experts / shape.experts, 1.0 - 1e-12))
    return np.asarray(-shape.experts * np.expm1(running * missed))


def engine_rows(hardware: Hardware, engine: str | None, calibration: Calibration) -> Ints:
    """Row of the engine table for each machine.

    ``engine``, or the one planned with for that GPU generation.
    """
    table, planned = calibration.generation["engines"], calibration.generation["engine"]
    names = list(table)
    row = [names.index(engine or planned[name]) for name in GENERATIONS]
    return np.asarray(np.array(row)[hardware.generation])


def _of_engine(key: str, rows: Ints, calibration: Calibration) -> Floats:
    return np.asarray(np.array([float(row[key]) for row in calibration.generation["engines"].values()])[rows])


def _share(key: str, factor: Floats | float, hardware: Hardware, calibration: Calibration) -> Floats:
    """A share of the nameplate after the engine's device factor, never above what any kernel reaches."""
    share = calibration.by_generation("generation", key, hardware.generation) / factor
    return np.minimum(share, calibration.value("generation", "most_of_nameplate"))


def _peak(hardware: Hardware, precision: str) -> Floats:
    """FLOP/s that weights of ``precision`` meet: fp4 beside 16-bit tensor cores alone is weight-only."""
    peak = hardware.peak(precision)
    return np.where(np.isnan(peak), hardware.peak("bf16"), peak) if precision == "fp4" else peak


def _flops_key(precision: str) -> str:
    return {"fp8": "flops_8", "fp4": "flops_4"}.get(precision, "flops_16")


def _device_factor(hardware: Hardware, precision: str, rows: Ints, calibration: Calibration) -> Floats:
    """The engine's factor on device time, and that of kernels that unpack weights."""
    emulated = np.isnan(hardware.tflops["fp4"]) & (precision == "fp4")
    unpacked = emulated | (precision in WEIGHT_ONLY)
    weight_only = np.where(unpacked, calibration.value("generation", "weight_only_factor"), 1.0)
    return _of_engine("device_factor", rows, calibration) * weight_only


def decode_step(
    shape: ModelShape,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str,
    calibration: Calibration,
    ep: Floats | Ints | int = 1,
    engine: str | None = None,
) -> DecodeStep:
    """Coefficients of one decode step of a replica of max(tp, ep) GPUs, shape (n,).

    Where ep > tp, attention runs data-parallel over replica / tp groups and experts over all of the replica.
    """
    rows = engine_rows(hardware, engine, calibration)
    ways = np.asarray(tp, dtype=np.float64)
    replica = np.maximum(ways, ep)
    groups = replica / ways
    factor = _device_factor(hardware, precision, rows, calibration)
    hbm, peak = hardware.hbm_gb_s * GIGA, _peak(hardware, precision)
    size = calibration.size_bytes(precision)
    dense_bytes = shape.dense_active * size + shape.head * max(size, SIXTEEN)
    fixed = dense_bytes / ways / (hbm * _share("weight_bandwidth", factor, hardware, calibration))
    compute = peak * _share(_flops_key(precision), factor, hardware, calibration)
    slope = 2.0 * (shape.dense_active + shape.head) / replica / compute
    traffic = calibration.value("generation", "activation_bytes") * shape.layers * shape.hidden
    slope = slope + traffic / groups / (hbm * calibration.value("generation", "most_of_nameplate"))
    kv_factor = factor * _of_engine("kv_factor", rows, calibration)
    kv_rate = hbm * _share("kv_bandwidth", kv_factor, hardware, calibration)
    cache = kv_gib_per_token(shape, ways) * GIB / groups / kv_rate
    expert_read = np.zeros_like(fixed)
    if shape.moe:
        moe_rate = hbm * _share("moe_bandwidth", factor, hardware, calibration)
        expert_read = shape.experts_total / shape.experts * size / replica / moe_rate
        slope = slope + 2.0 * shape.experts_active / replica / (
            peak * _share("moe_flops", factor, hardware, calibration)
        )
    calls, per_sequence = _collectives(shape, hardware, ways, replica, calibration)
    launches = 1.0 + (calibration.value("generation", "layer_moe") if shape.moe else 0.0)
    launches += calibration.value("generation", "layer_mla") if shape.mla else 0.0
    fixed = fixed + calls + _of_engine("step_s", rows, calibration)
    fixed = fixed + _of_engine("layer_s", rows, calibration) * (shape.layers * launches)
    return DecodeStep(
        shape, fixed, slope + per_sequence + _of_engine("sequence_s", rows, calibration), cache, expert_read
    )


def _link(hardware: Hardware, span: Floats, calibration: Calibration) -> Floats:
    """Bytes/s of an all-reduce over ``span`` GPUs: the fast link, the slots, or across nodes the network."""
    constants = calibration.generation
    inside = (
        np.where(
            hardware.nvlink,
            hardware.link_gb_s * constants["link_share"],
            np.minimum(hardware.link_gb_s, float(constants["pcie_gb_s"])),
        )
        * GIGA
    )
    across = np.minimum(
        inside * float(constants["cross_node_share"]),
        outside_bytes_s(hardware, calibration) * hardware.gpus_per_node,
    )
    return np.where(span > hardware.island, across, inside)


def _collectives(
    shape: ModelShape, hardware: Hardware, ways: Floats, replica: Floats, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Seconds of a step's collectives: latencies, and seconds per running sequence.

    The latency of an all-reduce is a (3.5 + 2 tp).
    """
    constants = calibration.generation
    several = ways > 1
    a = np.where(hardware.nvlink, constants["allreduce_a_s"], constants["allreduce_pcie_a_s"])
    latency = np.where(
        several, CALLS * shape.layers * a * (constants["alpha_base"] + constants["alpha_rank"] * ways), 0.0
    )
    moved = CALLS * shape.layers * 2.0 * (ways - 1.0) / ways * (shape.hidden * SIXTEEN) * (ways / replica)
    per_sequence = over(moved, _link(hardware, ways, calibration))
    if shape.moe:  # experts beyond the tensor-parallel group: tokens are dispatched and combined
        wide = replica > ways
        outside = replica > hardware.island
        pause = np.where(outside, constants["dispatch_outside_s"], constants["dispatch_inside_s"])
        latency = latency + np.where(wide, shape.moe_layers * pause, 0.0)
        copies = constants["dispatch_factor"] * shape.active_experts * shape.hidden * constants["dispatch_bytes"]
        tokens = np.where(wide, shape.moe_layers * copies * (ways / replica), 0.0)
        per_sequence = per_sequence + over(tokens, _link(hardware, replica, calibration))
    return latency, per_sequence


def prefill_seconds(
    shape: ModelShape,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str,
    prompt: float,
    calibration: Calibration,
    ep: Floats | Ints | int = 1,
    engine: str | None = None,
    squared: float | None = None,
) -> Floats:
    """Seconds a replica takes to read one prompt of ``prompt`` tokens, shape (n,).

    Attention runs at its own share of the GEMMs' rate. ``squared`` is the mean of the squared length where
    prompts vary.
    """
    rows = engine_rows(hardware, engine, calibration)
    ways = np.asarray(tp, dtype=np.float64)
    replica = np.maximum(ways, ep)
    factor = _of_engine("prefill_factor", rows, calibration)
    compute = _peak(hardware, precision) * _share(_flops_key(precision), factor, hardware, calibration)
    attended = (squared or prompt**2) / max(prompt, 1.0)
    attention = 4.0 * shape.attended_pairs(attended) * shape.attention_width * prompt
    attention = attention / calibration.value("generation", "prefill_attention")
    seconds = (2.0 * shape.dense_active * prompt + attention) / replica / compute
    if shape.moe:
        grouped = _peak(hardware, precision) * _share("moe_flops", factor, hardware, calibration)
        seconds = seconds + 2.0 * shape.experts_active * prompt / replica / grouped
    traffic = calibration.value("generation", "activation_bytes") * shape.layers * shape.hidden * prompt
    groups = replica / ways  # every tensor-parallel rank passes the whole hidden width through its norms
    seconds = seconds + traffic / groups / (hardware.hbm_gb_s * GIGA)
    moved = CALLS * shape.layers * 2.0 * (ways - 1.0) / ways * (shape.hidden * SIXTEEN) * prompt * (ways / replica)
    return seconds + over(moved, _link(hardware, ways, calibration))
