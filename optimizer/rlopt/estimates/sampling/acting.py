"""Seconds of a step in which a vision-language-action policy acts on simulators or robots.

Environments advance together: a replica reads the observations of its b environments, runs the action head, and
every world then takes a chunk of steps. With f the part of an inference that does not grow with b, s what each
environment adds, w the world's seconds, m the mean and L the longest trajectory in inferences, R environments at once
out of N trajectories::

    T = N / R · m · (f + b s + w) + (L - m) (f + w)

As with responses (see `generation`), only the fixed part pays for the longest trajectory; out of step nobody waits
for it, and two halves of the environments take turns on GPU and world where that is faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Words
from rlopt.estimates.codes import Values
from rlopt.estimates.sampling.decode import DecodeStep, decode_step, prefill_seconds
from rlopt.estimates.sampling.memory import kv_gib_per_token
from rlopt.estimates.sampling.rates import Rates
from rlopt.estimates.sampling.serving import Serving, of_engine
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.units import bytes_to_gib
from rlopt.workloads import Acting

TWO_HALVES = 2.0
"""Environments of a replica from which on they can take turns."""


@dataclass(frozen=True, slots=True)
class Inference:
    """Seconds of one inference over b environments, shape (n,): fixed · batches(b) + each · b.

    ``most``: environments whose observations the cache holds at once; more are read batch by batch.
    """

    fixed: Floats
    each: Floats
    most: Floats

    def fixed_seconds(self, environments: Floats) -> Floats:
        """The part that does not grow with the environments of one batch."""
        return np.asarray(self.fixed * np.maximum(environments / self.most, 1.0))

    def seconds(self, environments: Floats) -> Floats:
        """Seconds over ``environments`` of one replica."""
        return np.asarray(self.fixed_seconds(environments) + self.each * environments)


@dataclass(frozen=True, slots=True)
class ActingTime:
    """Seconds of a step, environments of one replica, busy share of the GPUs, and seconds in the worlds; (n,)."""

    seconds: Floats
    running: Floats
    utilization: Floats
    world_seconds: Floats


def inference_seconds(
    backbone: ModelShape,
    head: ModelShape | None,
    acting: Acting,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str | Words,
    kv_gib: Floats,
    calibration: Calibration,
    engine: str | None = None,
) -> Inference:
    """Reading an observation through the backbone, and the passes of the action head; shape (n,).

    Flow heads denoise a chunk of action tokens in each pass, reading the observation's keys and values anew (pi0,
    Black et al., 2024, arXiv 2410.24164, section IV); token heads decode through the backbone one token after another.

    Parameters
    ----------
    backbone, head
        `role_shape` of the policy and of its action expert; ``None`` where the backbone acts itself.
    kv_gib
        Room for keys and values per GPU.
    engine
        Row of the calibration's engine table; ``None`` = the one of acting.yaml.
    """
    how = Serving.planned(hardware, calibration, engine or str(calibration.acting["engine"]))
    host = of_engine("step_s", how, calibration) * calibration.value("acting", "steps_of_a_call")
    whole = replace(backbone, dense_active=np.minimum(backbone.dense_active, backbone.dense))
    reader = decode_step(whole, hardware, tp, precision, calibration, serving=how)
    launches = of_engine("step_s", how, calibration)
    tokens = acting.observation_tokens
    read = prefill_seconds(backbone, hardware, tp, precision, tokens, calibration, serving=how)
    fixed = reader.fixed - launches + host
    each = read + of_engine("sequence_s", how, calibration)
    if acting.head == "tokens":
        spoken = decode_step(_text(backbone), hardware, tp, precision, calibration, serving=how)
        grown = tokens + acting.passes / 2.0
        fixed = fixed + acting.passes * (spoken.fixed - launches)
        each = each + acting.passes * (spoken.slope + spoken.cache * spoken.kept(grown))
    else:
        shape = _text(backbone) if head is None else head
        step = decode_step(shape, hardware, tp, precision, calibration, serving=how)
        fixed = fixed + acting.passes * (step.fixed - launches)
        each = each + acting.passes * _chunk_s(step, backbone, acting, hardware, tp, precision, how, calibration)
    held = kv_gib_per_token(backbone, tp, tokens) * acting.observation_tokens_max
    return Inference(fixed, each, np.floor(kv_gib / held))


def _text(backbone: ModelShape) -> ModelShape:
    """The backbone as an action token passes it: without the image tower's work."""
    tower = np.maximum(backbone.dense_active - backbone.dense, 0.0)
    return replace(backbone, dense_active=backbone.dense_active - tower)


def _chunk_s(
    step: DecodeStep,
    backbone: ModelShape,
    acting: Acting,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str | Words,
    how: Serving,
    calibration: Calibration,
) -> Floats:
    """Seconds that one environment adds to a pass: its action tokens, and its observation's keys and values."""
    tokens, context = float(acting.tokens_per_pass), acting.observation_tokens + acting.tokens_per_pass
    per_token = step.slope - of_engine("sequence_s", how, calibration)
    ways = np.asarray(tp, dtype=np.float64)
    rates = Rates.of(step.shape, hardware, precision, how, calibration)
    pairs = (backbone.attention_layers + backbone.window_layers) * context
    attention = 4.0 * pairs * backbone.attention_width / calibration.value("generation", "prefill_attention")
    return np.asarray(tokens * (per_token + attention / ways * rates.dense_flop) + step.cache * step.kept(context))


def acting_seconds(
    backbone: ModelShape,
    head: ModelShape | None,
    acting: Acting,
    hardware: Hardware,
    tp: Floats | Ints,
    precision: str | Words,
    kv_gib: Floats,
    gpus: Floats | Ints,
    trajectories: Values,
    instances: Values,
    steady: bool,
    calibration: Calibration,
    engine: str | None = None,
    slower: Values = 1.0,
) -> ActingTime:
    """Seconds of one step's trajectories on replicas of ``tp`` GPUs out of ``gpus``, shape (n,).

    Parameters
    ----------
    kv_gib
        Room per GPU beside the weights; simulators that run on the GPUs are taken off it here.
    trajectories, instances
        Trajectories of the step; copies of the world, or robots, that run at once.
    steady
        Whether nothing waits for the longest trajectory (asynchronous).
    slower
        Factor of an inference inside a loop; the world is as fast as ever.

    Returns
    -------
    ActingTime
        Infinite seconds where not even one observation fits, NaN where the device's peak is unknown.
    """
    replicas = np.asarray(gpus, dtype=np.float64) / np.asarray(tp, dtype=np.float64)
    at_once = np.minimum(np.asarray(instances, dtype=np.float64), trajectories)
    on_gpu = acting.runs_on == "gpu"
    if on_gpu:
        kv_gib = kv_gib - bytes_to_gib(acting.memory_bytes) * at_once / np.asarray(gpus, dtype=np.float64)
    one = inference_seconds(backbone, head, acting, hardware, tp, precision, kv_gib, calibration, engine)
    fits = one.most >= 1.0
    one = Inference(slower * one.fixed, slower * one.each, np.maximum(one.most, 1.0))
    running = np.maximum(at_once / replicas, 1.0)
    world, mean = acting.world_seconds, acting.inferences_mean
    rounds = np.maximum(trajectories / at_once, 1.0) * mean
    thinking = one.seconds(running)
    together = thinking + world
    longer = max(acting.inferences_max - mean, 0.0)
    if steady:
        half = one.seconds(running / 2.0)
        turns = np.maximum(2.0 * half, half + world)
        turns = np.where((running >= TWO_HALVES) & (not on_gpu), np.minimum(together, turns), together)
        seconds, waited = rounds * turns, 0.0
    else:
        seconds, waited = rounds * together + longer * (one.fixed + world), longer
    return ActingTime(
        np.where(fits, seconds, np.inf),
        running,
        np.minimum(rounds * thinking / seconds, 1.0),
        np.asarray((rounds + waited) * world) * np.ones_like(running),
    )
