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

from rlopt.estimates.arrays import Floats, Ints
from rlopt.estimates.codes import GENERATIONS, Values
from rlopt.estimates.lengths import CutLognormal
from rlopt.estimates.sampling.decode import DecodeStep, decode_step, prefill_seconds
from rlopt.estimates.sampling.memory import kv_gib_per_token
from rlopt.estimates.sampling.replica import Replica

NODES = 5
"""Gauss-Legendre nodes of the tail's integral: within 3.3 % of the exact one (3 nodes 7 %, 2 nodes 29 %)."""


@dataclass(frozen=True, slots=True)
class GenerationTime:
    """Seconds of a step, sequences a replica runs at once, share of the time its batch is full; (n,)."""

    seconds: Floats
    running: Floats
    utilization: Floats


@dataclass(frozen=True, slots=True)
class Batch:
    """Responses of one step; one value for all rows or one a row, shape (n,).

    Parameters
    ----------
    prompt, response
        (mean, longest) tokens.
    per_replica, total
        Sequences each replica samples in one step; all of them.
    group_size
        Samples that share a prompt: it is read and cached once for up to `most_shared` of them.
    p99
        99th percentiles of the lengths of prompts and responses, where known.
    """

    prompt: tuple[Values, Values]
    response: tuple[Values, Values]
    per_replica: Floats
    total: Values
    group_size: Values
    p99: tuple[float | None, float | None] = (None, None)


@lru_cache(maxsize=4096)
def tail_nodes(
    mean: float, longest: float, samples: float, cv: float, p99: float | None = None
) -> tuple[tuple[float, float, float], ...]:
    """(length, share still running, weight in tokens) of the tail's integral over all ``samples``."""
    lengths = CutLognormal.of(mean, longest, cv, p99)
    last = max(lengths.expected_longest(samples), mean)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    nodes = [(last * (1.0 + float(x)) / 2.0, float(w) / 2.0 * last) for x, w in zip(points, weights, strict=True)]
    return tuple((x, lengths.survival(x), w) for x, w in nodes)


def running_sequences(
    replica: Replica, kv_gib: Floats, batch: Batch, asked: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Sequences a replica runs at once of ``asked``, and whether one longest sequence fits; shape (n,) each.

    Limited by what is asked, the engine's cap and the cache: a running sequence reserves its share of the
    prompt (samples of one prompt share its blocks) and, on average, `kv_reserve` of the mean response.
    """
    shape, calibration, values = replica.shape, replica.calibration, replica.serving.kv_bytes
    constants, ways, (prompt, response) = calibration.generation, replica.ways, (batch.prompt, batch.response)
    groups = replica.gpus / ways
    per_token = kv_gib_per_token(shape, ways, prompt[0] + response[0], values)
    shared = np.minimum(batch.group_size, float(constants["most_shared"]))
    reserve = prompt[0] / shared + constants["kv_reserve"] * response[0]
    longest = prompt[1] + response[1]
    fits = kv_gib >= kv_gib_per_token(shape, ways, longest, values) * longest
    room = np.floor(kv_gib / (per_token * np.maximum(reserve, 1.0))) * groups
    cap = sequence_cap(replica) * groups
    return np.maximum(np.minimum(np.minimum(asked, cap), room), 1.0), fits


def sequence_cap(replica: Replica) -> Floats:
    """Most sequences that one attention group of an engine runs at once, shape of the hardware."""
    constants, hardware = replica.calibration.generation, replica.hardware
    small = np.array([name in constants["sequences_small"] for name in GENERATIONS])
    large = (hardware.memory_gib >= constants["large_memory_gib"]) & ~small[hardware.generation]
    return np.where(large, replica.engine("sequences_cap"), replica.engine("sequences_cap_small"))


def tail_seconds(
    step: DecodeStep,
    running: Floats,
    prompt: Values,
    response: tuple[Values, Values],
    total: Values,
    cv: float,
    p99: float | None = None,
) -> Floats:
    """The integral over the tail, shape of ``running``; lengths and ``total`` may differ by row."""
    distinct, at = _distinct(response[0], response[1], total)
    nodes = np.array([tail_nodes(*(float(v) for v in values), cv, p99) for values in distinct])
    drain = np.zeros_like(running)
    for node in range(nodes.shape[1]):
        x, alive, weight = (nodes[at, node, column] for column in range(3))
        drain = drain + weight * step.seconds(np.maximum(running * alive, 1.0), prompt + x)
    return drain


def _distinct(*values: Values) -> tuple[Floats, Ints | int]:
    """Distinct rows of broadcast ``values``, and which of them each row is (0 where all are one)."""
    if all(np.size(value) == 1 for value in values):
        return np.array([[float(np.ravel(value)[0]) for value in values]]), 0
    if all(np.size(value) == 1 for value in values[:-1]):  # one number sorts faster than a row of them
        last, at = np.unique(values[-1], return_inverse=True)
        first = [np.full(len(last), float(np.ravel(value)[0])) for value in values[:-1]]
        return np.column_stack([*first, last]), at.ravel() if len(last) > 1 else 0
    rows, at = np.unique(np.column_stack(np.broadcast_arrays(*values)), axis=0, return_inverse=True)
    return rows, at.ravel()


def generation_seconds(
    replica: Replica, kv_gib: Floats, batch: Batch, tail: bool, in_flight: float = 1.0
) -> GenerationTime:
    """Seconds of a step's sampling on replicas with ``kv_gib`` of cache room on each GPU; (n,).

    Parameters
    ----------
    tail
        Whether the step waits for its longest response; False is steady state (asynchronous).
    in_flight
        Steps' worth of sequences in flight (1 + staleness): deepens the batch, not the work.

    Returns
    -------
    GenerationTime
        Infinite seconds where not even one longest sequence fits, NaN where the device's peak is unknown.
    """
    constants, (prompt, response) = replica.calibration.generation, (batch.prompt, batch.response)
    cv = float(constants["length_cv"])
    asked = np.maximum(np.asarray(batch.per_replica, dtype=np.float64), 1.0)
    running, fits = running_sequences(replica, kv_gib, batch, asked * in_flight)
    step = decode_step(replica)
    steady = step.seconds(running, prompt[0] + response[0] / 2.0)
    full = response[0] * steady * asked / running
    if tail:
        width = np.minimum(running, asked)
        drain = tail_seconds(step, width, prompt[0], response, batch.total, cv, batch.p99[1])
        decoding = (asked - width) / width * response[0] * steady + drain
    else:
        decoding = full
    shared = np.minimum(batch.group_size, float(constants["most_shared"]))
    reading = prefill_seconds(replica, prompt[0], second_moment(prompt, cv, batch.p99[0]))
    prefill = asked / shared * reading + asked * replica.engine("request_s")
    factor = constants["rl_factor"] * np.where(replica.shape.moe, constants["rl_moe_factor"], 1.0)
    seconds = (decoding + prefill) * factor
    busy = np.divide(full, decoding, out=np.ones_like(full), where=decoding > 0.0)
    return GenerationTime(np.where(fits, seconds, np.inf), running, np.minimum(busy, 1.0))


def second_moment(lengths: tuple[Values, Values], cv: float, p99: float | None = None) -> Values:
    """Mean of the squared length of a cut lognormal with this mean and maximum; one a row where they differ."""
    distinct, at = _distinct(*lengths)
    squares = np.array([CutLognormal.of(float(m), float(x), cv, p99).moment(2) for m, x in distinct])
    return squares[at] if np.ndim(at) else float(squares[0])
