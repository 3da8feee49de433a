"""Tokens per second of a served model in steady state: fixed batches, fixed concurrency, or as many as fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats
from rlopt.estimates.codes import Values
from rlopt.estimates.sampling.decode import decode_step, prefill_seconds
from rlopt.estimates.sampling.memory import kv_gib_per_token, rollout_weights_gib
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import sequence_cap, tail_seconds


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of all replicas together, shape (n,) each.

    Parameters
    ----------
    prompt, response
        Mean tokens.
    longest
        Tokens of the longest response; the mean where all are of one length.
    concurrency
        Sequences at once, all replicas together; infinite = as many as the engine takes.
    requests
        All sequences of a burst, submitted at once; infinite = steady state.
    """

    prompt: Floats
    response: Floats
    longest: Floats
    concurrency: Floats
    requests: Floats


def output_tokens_per_s(replica: Replica, replicas: Values, load: Load) -> Floats:
    """Output tokens per second of all replicas, shape (n,).

    Steady state, b sequences of response r at once on each of R replicas::

        R b r / (r step(b, p + r / 2) + b prefill(p))

    the same for fixed batches, fixed concurrency and continuous batching. A burst of n requests lasts
    n / R prefill(p) + (n / R - b) / b r step(b) + its tail (see `generation`).
    """
    running = fitting_sequences(replica, load)
    asked = np.minimum(load.concurrency, load.requests) / replicas
    cap = sequence_cap(replica) * replica.gpus / replica.tp
    width = np.maximum(np.minimum(np.minimum(asked, cap), running), 1.0)
    step = decode_step(replica)
    one = step.seconds(width * replica.serving.beams, load.prompt + load.response / 2.0)
    bursts = np.flatnonzero(np.isfinite(np.broadcast_to(load.requests, width.shape)))
    cv = float(replica.calibration.generation["length_cv"])
    squared = np.square(np.broadcast_to(load.prompt, width.shape))
    squared[bursts] *= 1.0 + cv**2
    reading = prefill_seconds(replica, load.prompt, squared)
    reading = reading + replica.engine("request_s")
    found = replicas * width * load.response / (load.response * one + width * reading)
    if len(bursts):
        each = (load.requests / replicas)[bursts]
        some, at = width[bursts], bursts
        drain = tail_seconds(
            step.take(at), some, load.prompt[at], (load.response[at], load.longest[at]), load.requests[at], cv
        )
        lasts = each * reading[at] + (each / some - 1.0) * load.response[at] * one[at] + drain
        found[bursts] = (replicas * load.response)[at] * each / lasts
    return np.asarray(found)


def fitting_sequences(replica: Replica, load: Load) -> Floats:
    """Sequences that the cache of a replica holds, shape (n,): a share of the memory less weights and engine.

    Where hardly anything is left, a published run had squeezed the engine: at least `least_room` of the memory
    counts as cache.
    """
    shape, hardware, serving, ways = replica.shape, replica.hardware, replica.serving, replica.ways
    constants = replica.calibration.generation
    weights = rollout_weights_gib(
        shape, replica.precision, ways, replica.ep, replica.calibration, serving.dense_precision
    )
    given = hardware.memory_gib * replica.engine("memory_share")
    left = given - weights - replica.engine("workspace_gib")
    room = np.maximum(left, hardware.memory_gib * float(constants["least_room"]))
    per_token = kv_gib_per_token(shape, ways, load.prompt + load.response, serving.kv_bytes)
    reserve = load.prompt + constants["kv_reserve"] * load.response
    return np.asarray(room / (per_token * np.maximum(reserve, 1.0)) * replica.gpus / ways)
