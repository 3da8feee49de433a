"""Seconds per byte and per FLOP that an engine reaches on a device: shares of the nameplate, with their factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import WEIGHT_ONLY, Hardware, Words
from rlopt.estimates.codes import Floats, Ints, Values
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.serving import SIXTEEN, measured_factor
from rlopt.facts.calibration import Calibration
from rlopt.units import GIGA

FLOPS = ("flops_16", "flops_8", "flops_4")
EIGHT, FOUR = 1, 2


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds per byte or FLOP, shape (n,) each, and bytes of a weight.

    Parameters
    ----------
    weight, cache, expert_weight, traffic
        Seconds per byte of dense weights, of the cache, of experts, and of activations.
    dense_flop, expert_flop
        Seconds per FLOP outside and inside the routed experts.
    dense_bytes, head_bytes, expert_bytes
        Bytes of one weight.
    """

    weight: Floats
    cache: Floats
    expert_weight: Floats
    traffic: Floats
    dense_flop: Floats
    expert_flop: Floats
    dense_bytes: Values
    head_bytes: Values
    expert_bytes: Values

    @staticmethod
    def of(replica: Replica, reading: bool = False) -> Rates:
        """Rates of decoding, or of ``reading`` a prompt, where the engine's prefill factor stands for its own."""
        shape, hardware, calibration = replica.shape, replica.hardware, replica.calibration
        precision, serving = replica.precision, replica.serving
        dense_precision = precision if serving.dense_precision is None else serving.dense_precision
        measured = measured_factor(serving, hardware.generation, calibration)
        base = replica.engine("prefill_factor" if reading else "device_factor") * measured
        base = base * np.where(serving.block_scaled, calibration.value("generation", "block_scale_factor"), 1.0)
        dense = base * _unpacking(hardware, dense_precision, "weight_only_factor", calibration)
        expert = base * _unpacking(hardware, precision, "weight_only_expert_factor", calibration)
        expert = expert * replica.engine("moe_prefill_factor" if reading else "moe_factor")
        cache = base * replica.engine("kv_factor")
        repeats = np.where(shape.mla, 0.0, shape.heads / np.maximum(shape.kv_heads, 1) - 1.0)
        cache = cache * (1.0 + replica.engine("group_factor") * repeats)
        computing = 1.0 if reading else replica.engine("flops_factor")
        hbm = hardware.hbm_gb_s * GIGA
        dense_share = _flops(dense_precision, dense * computing, hardware, calibration)
        expert_share = _share("moe_flops", expert * computing, hardware, calibration)
        size = calibration.size_bytes(dense_precision)
        most = calibration.value("generation", "most_of_nameplate")
        return Rates(
            weight=1.0 / (hbm * _share("weight_bandwidth", dense, hardware, calibration)),
            cache=1.0 / (hbm * _share("kv_bandwidth", cache, hardware, calibration)),
            expert_weight=1.0 / (hbm * _share("moe_bandwidth", expert, hardware, calibration)),
            traffic=1.0 / (hbm * most),
            dense_flop=1.0 / (_peak(hardware, dense_precision) * dense_share),
            expert_flop=1.0 / (_peak(hardware, precision) * expert_share),
            dense_bytes=size,
            head_bytes=np.maximum(size, SIXTEEN),
            expert_bytes=calibration.size_bytes(precision),
        )


def _share(key: str, factor: Floats | float, hardware: Hardware, calibration: Calibration) -> Floats:
    """A share of the nameplate after the engine's factor, never above what any kernel reaches."""
    share = calibration.by_generation("generation", key, hardware.generation) / factor
    return np.minimum(share, calibration.value("generation", "most_of_nameplate"))


def _flops(precision: str | Words, factor: Floats | float, hardware: Hardware, calibration: Calibration) -> Floats:
    """Share of the peak that dense GEMMs reach at ``precision``."""
    if isinstance(precision, str):
        return _share(FLOPS[_width(precision)], factor, hardware, calibration)
    names, which = np.unique(precision, return_inverse=True)
    width: Ints = np.array([_width(str(name)) for name in names], dtype=np.int64)[which]
    shares = np.stack([_share(key, factor, hardware, calibration) for key in FLOPS])
    return np.asarray(np.take_along_axis(shares, width[None, :], axis=0)[0])


def _width(precision: str) -> int:
    return {"fp8": EIGHT, "fp4": FOUR}.get(precision, 0)


def _peak(hardware: Hardware, precision: str | Words) -> Floats:
    """FLOP/s that weights of ``precision`` meet: fp4 beside 16-bit tensor cores alone is weight-only."""
    peak = hardware.peak(precision)
    emulated = np.isnan(peak) & (np.asarray(precision) == "fp4")
    return np.where(emulated, hardware.peak("bf16"), peak)


def _unpacking(hardware: Hardware, precision: str | Words, key: str, calibration: Calibration) -> Floats:
    """Factor of kernels that unpack weights before they multiply."""
    emulated = np.isnan(hardware.tflops["fp4"]) & (np.asarray(precision) == "fp4")
    unpacked = emulated | np.isin(precision, WEIGHT_ONLY)
    return np.where(unpacked, calibration.value("generation", key), 1.0)
