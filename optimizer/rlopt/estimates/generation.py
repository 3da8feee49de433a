"""Seconds to sample one step's responses.

A synchronous batch ends with its longest response. While more sequences wait than run, the replica works at
full width; then the width follows the survival S of the response length,

    T = (n - b) / b · r · step(b, p + r / 2) + integral over x from 0 to Lmax of step(b · S(x), p + x)

n sequences on the replica of which b run at once, mean prompt p and response r, Lmax the longest response of
*all* replicas. Because step is nearly linear in b, only its fixed part (weights, launches, latencies) pays
for the longest response; the mean pays for the rest. Asynchronous sampling is steady state: nothing waits for
the tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates.arrays import Floats, Hardware, Ints
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import GENERATIONS
from rlopt.estimates.decode import DecodeStep, decode_step, engine_rows, prefill_seconds
from rlopt.estimates.lengths import CutLognormal
from rlopt.estimates.rollout_memory import kv_gib_per_token
from rlopt.estimates.shape import ModelShape

NODES = 5
"""Gauss-Legendre nodes of the tail's integral: within 3.3 % of the exact one (3 nodes 7 %, 2 nodes 29 %)."""


@dataclass(frozen=True, slots=True)
class GenerationTime:
    """Seconds of a step, sequences a replica runs at once, share of the time its batch is full; (n,)."""

    seconds: Floats
    running: Floats
    utilization: Floats


@lru_cache(maxsize=1024)
def tail_nodes(mean: float, longest: float, samples: float, cv: float) -> tuple[tuple[float, float, float], ...]:
    """(length, share still running, weight in tokens) of the tail's integral over all ``samples``."""
    lengths = CutLognormal.of(mean, longest, cv)
    last = max(lengths.expected_longest(samples), mean)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    nodes = [(last * (1.0 + float(x)) / 2.0, float(w) / 2.0 * last) for x, w in zip(points, weights, strict=True)]
    return tuple((x, lengths.survival(x), w) for x, w in nodes)


def running_sequences(
    shape: ModelShape,
    hardware: Hardware,
    tp: Floats | Ints,
    kv_gib: Floats,
    prompt: tuple[float, float],
    response: tuple[float, float],
    asked: Floats,
    group_size: int,
    calibration: Calibration,
    ep: Floats | Ints | int = 1,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Sequences a replica runs at once, and whether one longest sequence fits; shape (n,) each.

    Limited by what is asked, the engine's cap and the cache: a running sequence reserves its share of the
    prompt (samples of one prompt share its blocks) and, on average, `kv_reserve` of the mean response.
    """
    constants = calibration.generation
    ways = np.asarray(tp, dtype=np.float64)
    groups = np.maximum(ways, ep) / ways
    middle = prompt[0] + response[0]
    per_token = kv_gib_per_token(shape, ways, middle)
    shared = min(group_size, float(constants["most_shared"]))
    reserve = prompt[0] / shared + constants["kv_reserve"] * response[0]
    longest = prompt[1] + response[1]
    fits = kv_gib >= kv_gib_per_token(shape, ways, longest) * longest
    room = np.floor(kv_gib / (per_token * max(reserve, 1.0))) * groups
    small = [name in constants["sequences_small"] for name in GENERATIONS]
    large = (hardware.memory_gib >= constants["large_memory_gib"]) & ~np.array(small)[hardware.generation]
    cap = np.where(large, constants["sequences_cap"], constants["sequences_cap_small"]) * groups
    return np.maximum(np.minimum(np.minimum(asked, cap), room), 1.0), fits


def _tail_seconds(
    step: DecodeStep,
    running: Floats,
    prompt: float,
    response: tuple[float, float],
    total: Floats | float,
    cv: float,
) -> Floats:
    """The integral over the tail; ``total`` may differ by row (few distinct values)."""
    totals = np.atleast_1d(np.asarray(total, dtype=np.float64))
    distinct = np.unique(totals)
    nodes = np.array([tail_nodes(response[0], response[1], float(value), cv) for value in distinct])
    which = np.searchsorted(distinct, totals) if len(distinct) > 1 else 0
    drain = np.zeros_like(running)
    for node in range(nodes.shape[1]):
        x, alive, weight = (nodes[which, node, column] for column in range(3))
        drain = drain + weight * step.seconds(np.maximum(running * alive, 1.0), prompt + x)
    return drain


def generation_seconds(
    shape: ModelShape,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str,
    kv_gib: Floats,
    prompt: tuple[float, float],
    response: tuple[float, float],
    per_replica: Floats,
    total: Floats | float,
    group_size: int,
    tail: bool,
    calibration: Calibration,
    ep: Floats | Ints | int = 1,
    in_flight: float = 1.0,
    engine: str | None = None,
) -> GenerationTime:
    """Seconds of a step's sampling on replicas of max(tp, ep) GPUs with ``kv_gib`` of cache room each; (n,).

    Parameters
    ----------
    prompt, response
        (mean, longest) tokens.
    per_replica, total
        Sequences each replica samples in one step; all of them.
    group_size
        Samples that share a prompt: it is read and cached once for up to `most_shared` of them.
    tail
        Whether the step waits for its longest response; False is steady state (asynchronous).
    in_flight
        Steps' worth of sequences in flight (1 + staleness): deepens the batch, not the work.
    engine
        Row of the calibration's engine table; ``None`` = the one planned with.

    Returns
    -------
    GenerationTime
        Infinite seconds where not even one longest sequence fits, NaN where the device's peak is unknown.
    """
    constants = calibration.generation
    asked = np.maximum(np.asarray(per_replica, dtype=np.float64), 1.0)
    running, fits = running_sequences(
        shape, hardware, tp, kv_gib, prompt, response, asked * in_flight, group_size, calibration, ep
    )
    step = decode_step(shape, hardware, tp, precision, calibration, ep, engine)
    steady = step.seconds(running, prompt[0] + response[0] / 2.0)
    full = response[0] * steady * asked / running
    if tail:
        width = np.minimum(running, asked)
        drain = _tail_seconds(step, width, prompt[0], response, total, float(constants["length_cv"]))
        decoding = (asked - width) / width * response[0] * steady + drain
    else:
        decoding = full
    shared = min(group_size, float(constants["most_shared"]))
    rows = engine_rows(hardware, engine, calibration)
    request_s = np.array([float(row["request_s"]) for row in constants["engines"].values()])[rows]
    squared = CutLognormal.of(prompt[0], prompt[1], float(constants["length_cv"])).moment(2)
    prefill = (
        asked / shared * prefill_seconds(shape, hardware, tp, precision, prompt[0], calibration, ep, engine, squared)
    )
    prefill = prefill + asked * request_s
    factor = constants["rl_factor"] * (constants["rl_moe_factor"] if shape.moe else 1.0)
    seconds = (decoding + prefill) * factor
    busy = np.divide(full, decoding, out=np.ones_like(full), where=decoding > 0.0)
    return GenerationTime(np.where(fits, seconds, np.inf), running, np.minimum(busy, 1.0))
