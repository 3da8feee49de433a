"""Memory of a rollout engine: its weights, its cache, and what else it takes, GiB per GPU."""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Ints, Words
from rlopt.estimates.codes import Values
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.units import GIB

SIXTEEN = 2.0
"""Bytes of a cached value and of an embedding entry: quantised checkpoints keep both at 16 bits."""


def rollout_weights_gib(
    shape: ModelShape,
    precision: str | Words,
    tp: Floats | Ints,
    ep: Floats | Ints | int,
    calibration: Calibration,
    dense_precision: str | Words | None = None,
) -> Floats:
    """Weights of one rollout rank, shape of ``tp``.

    A replica has max(tp, ep) GPUs: dense weights are split over tp (and repeated over its attention-parallel
    ranks where ep > tp), experts over all of them. ``dense_precision``: of what stands outside the experts,
    where that is another.
    """
    ways = np.asarray(tp, dtype=np.float64)
    size = calibration.size_bytes(precision if dense_precision is None else dense_precision)
    dense = (shape.dense * size + shape.tables * np.maximum(size, SIXTEEN)) / ways
    return np.asarray((dense + shape.experts_total * calibration.size_bytes(precision) / np.maximum(ways, ep)) / GIB)


def kv_gib_per_token(
    shape: ModelShape, tp: Floats | Ints, context: Values | None = None, values: Values = SIXTEEN
) -> Floats:
    """Cache of one token per GPU, GiB, shape of ``tp``.

    Heads are repeated beyond kv_heads, a latent stands in full on every rank. ``context`` averages over a
    sequence of that many tokens, of which windowed layers keep only their window. ``values``: bytes of a cached
    value, 1 for an 8-bit cache.
    """
    ways = np.asarray(tp, dtype=np.float64)
    ways = np.where(shape.mla, 1.0, np.minimum(ways, shape.kv_heads))
    share = 1.0 if context is None else kept_tokens(shape, context) / np.maximum(context, 1.0)
    return np.asarray(shape.kv_values_per_token * values * share / GIB / ways)


def kept_tokens(shape: ModelShape, context: Values) -> Values:
    """Tokens of ``context`` that engines keep, averaged over the layers.

    Where some layers attend in full, windowed ones keep their window; a model windowed in every layer (Mistral 7B)
    is served with its whole cache: published throughput at 20,000 tokens is a third of what its window would give.
    """
    return np.where(np.asarray(shape.attention_layers) > 0.0, shape.cached_tokens(context), context)


def rollout_other_gib(calibration: Calibration) -> float:
    """Runtime and activation buffers of a rollout engine, GiB per GPU."""
    return calibration.value("memory", "runtime_gib") + calibration.value("memory", "rollout_activation_gib")


def kv_room_gib(
    memory_gib: Floats,
    weights_gib: Floats,
    resident_gib: Floats | float,
    colocated: bool,
    calibration: Calibration,
) -> Floats:
    """Cache room per GPU beside weights, engine and resident training state; negative where it does not fit.

    Engines are given a share of the memory (0.7 beside a trainer, 0.9 alone); what stays resident comes off
    the rest.
    """
    given = calibration.value("memory", "engine_share_colocated" if colocated else "engine_share")
    left = memory_gib - np.asarray(resident_gib) * (1.0 + calibration.value("memory", "fragmentation"))
    return np.asarray(np.minimum(given * memory_gib, left) - weights_gib - rollout_other_gib(calibration))
