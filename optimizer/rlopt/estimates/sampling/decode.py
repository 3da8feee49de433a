"""Seconds of one decode step, and of reading a prompt.

A step over b sequences of context c takes the *sum* of weight and cache reads, FLOPs, collectives and host
time: the roofline maximum (Pope et al., 2022) is only a lower bound, and the constants were fitted to the
sum. No rate exceeds the nameplate: shares of bandwidth and peak are cut at `most_of_nameplate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware
from rlopt.estimates.codes import Values
from rlopt.estimates.communication import outside_bytes_s, over
from rlopt.estimates.sampling.memory import kept_tokens, kv_gib_per_token
from rlopt.estimates.sampling.rates import Rates
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.serving import SIXTEEN
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.table import Table
from rlopt.units import GIB, GIGA

CALLS = 2.0
"""All-reduces of a layer: after attention and after the feed-forward block."""
ALMOST = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class DecodeStep(Table):
    """Coefficients of a step, shape (n,) each: fixed + slope · b + cache · b · kept(c) + experts(b).

    Parameters
    ----------
    fixed
        Seconds whatever runs: dense weights, launches, latencies.
    slope, cache
        Seconds per sequence; per sequence and token of its context that is read.
    expert_read
        Seconds per touched expert of a layer, all layers together.
    ranks, lumps, spread
        GPUs that hold whole experts; how unevenly tokens fall on them; power of the batch that routing sees.
    sparse_tokens, sparse_share
        Tokens that sparse attention reads, beside its share of all.
    """

    shape: ModelShape
    fixed: Floats
    slope: Floats
    cache: Floats
    expert_read: Floats
    ranks: Values = 1.0
    lumps: Values = 1.0
    spread: Values = 1.0
    sparse_tokens: Values = np.inf
    sparse_share: Values = 1.0

    def seconds(self, running: Floats, context: Floats | float) -> Floats:
        """Seconds of a step over ``running`` sequences of ``context`` tokens."""
        found = self.fixed + running * (self.slope + self.cache * self.kept(context))
        if np.any(self.shape.moe):
            touched = touched_experts(self.shape, running if np.all(self.spread == 1.0) else running**self.spread)
            found = found + self.expert_read * fullest_rank(touched, self.ranks, self.lumps)
        return np.asarray(found)

    def kept(self, context: Floats | float) -> Floats | Values:
        """Tokens of ``context`` that a step reads: of windowed layers the window, of sparse ones a part."""
        plain = np.ndim(self.shape.window) == 0 and not self.shape.window
        read = context if plain else kept_tokens(self.shape, context)
        if np.all(np.isinf(self.sparse_tokens)):
            return read
        return np.minimum(read, self.sparse_tokens + self.sparse_share * read)


def touched_experts(shape: ModelShape, running: Floats) -> Floats:
    """Expected distinct experts of a layer that ``running`` tokens visit; 0 for a dense model.

    E (1 - (1 - k / E)^b), uniform routing.
    """
    missed = np.log1p(-np.minimum(shape.active_experts / np.maximum(shape.experts, 1), ALMOST))
    return np.asarray(-shape.experts * np.expm1(running * missed))


def fullest_rank(touched: Floats, ranks: Values, lumps: Values) -> Floats:
    """Touched experts, as many as all ``ranks`` would have if each had those of the fullest.

    m = touched / ranks on average, m + c sqrt(2 m ln ranks) on the fullest: the largest of so many Poisson counts.
    """
    if np.ndim(ranks) == 0 and ranks <= 1:
        return touched
    return np.asarray(touched + lumps * np.sqrt(2.0 * touched * ranks * np.log(ranks)))


def decode_step(replica: Replica) -> DecodeStep:
    """Coefficients of one decode step of a replica, shape (n,)."""
    shape, hardware, calibration = replica.shape, replica.hardware, replica.calibration
    rates, ways, gpus = Rates.of(replica), replica.ways, replica.gpus
    groups = gpus / ways
    fixed = (shape.dense_active * rates.dense_bytes + shape.head * rates.head_bytes) / ways * rates.weight
    slope = 2.0 * (shape.dense_active + shape.head) / gpus * rates.dense_flop
    traffic = calibration.value("generation", "activation_bytes") * shape.layers * shape.hidden
    slope = slope + traffic / groups * rates.traffic
    cache = kv_gib_per_token(shape, ways, values=replica.serving.kv_bytes) * GIB / groups * rates.cache
    expert_read = np.zeros_like(fixed)
    if np.any(shape.moe):
        expert_read = (
            shape.experts_total / np.maximum(shape.experts, 1) * rates.expert_bytes / gpus * rates.expert_weight
        )
        slope = slope + 2.0 * shape.experts_active / gpus * rates.expert_flop
    calls, per_sequence = collectives(replica)
    launches = 1.0 + calibration.value("generation", "layer_moe") * shape.moe
    launches = launches + calibration.value("generation", "layer_mla") * shape.mla
    fixed = fixed + calls + replica.engine("step_s")
    launches = launches * calibration.by_generation("generation", "launch_factor", hardware.generation)
    fixed = fixed + replica.engine("layer_s") * (shape.layers * launches)
    slope = slope + per_sequence + replica.engine("sequence_s") / groups
    return DecodeStep(
        shape,
        fixed,
        slope,
        cache,
        expert_read,
        ranks=np.asarray(replica.ep, dtype=np.float64) if np.ndim(replica.ep) else float(replica.ep),
        lumps=calibration.value("generation", "expert_lumps"),
        spread=replica.engine("routing_spread") if np.any(shape.moe) else 1.0,
        sparse_tokens=replica.serving.sparse_tokens,
        sparse_share=calibration.value("generation", "sparse_share"),
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


def collectives(replica: Replica) -> tuple[Floats, Floats]:
    """Seconds of a step's collectives: latencies, and seconds per running sequence.

    The latency of an all-reduce is a (3.5 + 2 tp), times what the engine's own kernels make of it.
    """
    shape, hardware, calibration = replica.shape, replica.hardware, replica.calibration
    constants, ways, gpus = calibration.generation, replica.ways, replica.gpus
    several = ways > 1
    linked = calibration.by_generation("generation", "allreduce_a_s", hardware.generation)
    a = np.where(hardware.nvlink, linked, constants["allreduce_pcie_a_s"])
    a = a * replica.engine("allreduce_factor")
    latency = np.where(
        several, CALLS * shape.layers * a * (constants["alpha_base"] + constants["alpha_rank"] * ways), 0.0
    )
    moved = CALLS * shape.layers * 2.0 * (ways - 1.0) / ways * (shape.hidden * SIXTEEN) * (ways / gpus)
    per_sequence = over(moved, _link(hardware, ways, calibration))
    if np.any(shape.moe):  # experts beyond the tensor-parallel group: tokens are dispatched and combined
        wide = (gpus > ways) & shape.moe
        outside = gpus > hardware.island
        pause = np.where(outside, constants["dispatch_outside_s"], constants["dispatch_inside_s"])
        pause = pause * replica.engine("dispatch_pause_factor")
        latency = latency + np.where(wide, shape.moe_layers * pause, 0.0)
        copies = constants["dispatch_factor"] * shape.active_experts * shape.hidden * constants["dispatch_bytes"]
        tokens = np.where(wide, shape.moe_layers * copies * (ways / gpus), 0.0)
        per_sequence = per_sequence + over(tokens, _link(hardware, gpus, calibration))
    return latency, per_sequence


def prefill_seconds(replica: Replica, prompt: Values, squared: Values | None = None) -> Floats:
    """Seconds a replica takes to read one prompt of ``prompt`` tokens, shape (n,).

    Attention runs at its own share of the GEMMs' rate. ``squared`` is the mean of the squared length where
    prompts vary.
    """
    shape, hardware, calibration = replica.shape, replica.hardware, replica.calibration
    factor = replica.engine("prefill_factor")
    rates, ways, gpus = Rates.of(replica, reading=True), replica.ways, replica.gpus
    attended = (prompt**2 if squared is None else squared) / np.maximum(prompt, 1.0)
    attention = 4.0 * shape.attended_pairs(attended) * shape.attention_width * prompt
    attention = attention / calibration.value("generation", "prefill_attention")
    seconds = (2.0 * shape.dense_active * prompt + attention) / gpus * rates.dense_flop
    if np.any(shape.moe):
        seconds = seconds + 2.0 * shape.experts_active * prompt / gpus * rates.expert_flop
    traffic = calibration.value("generation", "activation_bytes") * shape.layers * shape.hidden * prompt
    groups = gpus / ways  # every tensor-parallel rank passes the whole hidden width through its norms
    seconds = seconds + factor * traffic / groups / (hardware.hbm_gb_s * GIGA)
    moved = CALLS * shape.layers * 2.0 * (ways - 1.0) / ways * (shape.hidden * SIXTEEN) * prompt * (ways / gpus)
    return seconds + over(moved, _link(hardware, ways, calibration))
