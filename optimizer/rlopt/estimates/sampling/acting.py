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

from rlopt.estimates.arrays import Floats, Hardware, Ints
from rlopt.estimates.codes import Values
from rlopt.estimates.sampling.decode import DecodeStep, decode_step, prefill_seconds
from rlopt.estimates.sampling.memory import kv_gib_per_token
from rlopt.estimates.sampling.rates import Rates
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.serving import Serving
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


def planned_serving(hardware: Hardware, calibration: Calibration) -> Serving:
    """The engine that acting is planned with (acting.yaml)."""
    return Serving.planned(hardware, calibration, str(calibration.acting["engine"]))


@dataclass(frozen=True, slots=True)
class Actor:
    """A policy that acts, on the replicas of an engine.

    Parameters
    ----------
    backbone
        `role_shape` of the policy where it is served.
    head
        Shape of its action expert; ``None`` where the backbone acts itself.
    kv_gib
        Room for keys and values per GPU beside the weights, shape (n,).
    """

    backbone: Replica
    head: ModelShape | None
    acting: Acting
    kv_gib: Floats


def inference_seconds(actor: Actor) -> Inference:
    """Reading an observation through the backbone, and the passes of the action head; shape (n,).

    Flow heads denoise a chunk of action tokens in each pass, reading the observation's keys and values anew (pi0,
    Black et al., 2024, arXiv 2410.24164, section IV); token heads decode through the backbone one token after another.
    """
    replica, acting = actor.backbone, actor.acting
    backbone, launches = replica.shape, replica.engine("step_s")
    host = launches * replica.calibration.value("acting", "steps_of_a_call")
    whole = replace(backbone, dense_active=np.minimum(backbone.dense_active, backbone.dense))
    reader = decode_step(replace(replica, shape=whole))
    tokens = acting.observation_tokens
    fixed = reader.fixed - launches + host
    each = prefill_seconds(replica, tokens) + replica.engine("sequence_s")
    if acting.head == "tokens":
        spoken = decode_step(replace(replica, shape=_text(backbone)))
        grown = tokens + acting.passes / 2.0
        fixed = fixed + acting.passes * (spoken.fixed - launches)
        each = each + acting.passes * (spoken.slope + spoken.cache * spoken.kept(grown))
    else:
        head = replace(replica, shape=_text(backbone) if actor.head is None else actor.head)
        step = decode_step(head)
        fixed = fixed + acting.passes * (step.fixed - launches)
        each = each + acting.passes * _chunk_s(step, head, backbone, acting)
    held = kv_gib_per_token(backbone, replica.tp, tokens) * acting.observation_tokens_max
    return Inference(fixed, each, np.floor(actor.kv_gib / held))


def _text(backbone: ModelShape) -> ModelShape:
    """The backbone as an action token passes it: without the image tower's work."""
    tower = np.maximum(backbone.dense_active - backbone.dense, 0.0)
    return replace(backbone, dense_active=backbone.dense_active - tower)


def _chunk_s(step: DecodeStep, head: Replica, backbone: ModelShape, acting: Acting) -> Floats:
    """Seconds that one environment adds to a pass: its action tokens, and its observation's keys and values."""
    tokens, context = float(acting.tokens_per_pass), acting.observation_tokens + acting.tokens_per_pass
    per_token = step.slope - head.engine("sequence_s")
    pairs = (backbone.attention_layers + backbone.window_layers) * context
    attention = 4.0 * pairs * backbone.attention_width / head.calibration.value("generation", "prefill_attention")
    attention = attention / head.ways * Rates.of(head).dense_flop
    return np.asarray(tokens * (per_token + attention) + step.cache * step.kept(context))


@dataclass(frozen=True, slots=True)
class Trajectories:
    """One step's trajectories, scalars or of shape (n,).

    Parameters
    ----------
    count
        All of them.
    instances
        Copies of the world, or robots, that run at once.
    gpus
        GPUs of all replicas.
    """

    count: Values
    instances: Values
    gpus: Floats | Ints


def acting_seconds(actor: Actor, asked: Trajectories, asynchronous: bool, slower: Values = 1.0) -> ActingTime:
    """Seconds of one step's trajectories, shape (n,); simulators on the GPUs come off the room for keys and values.

    Parameters
    ----------
    asynchronous
        Whether nothing waits for the longest trajectory (asynchronous).
    slower
        Factor of an inference inside a loop; the world is as fast as ever.

    Returns
    -------
    ActingTime
        Infinite seconds where not even one observation fits, NaN where the device's peak is unknown.
    """
    acting, gpus = actor.acting, np.asarray(asked.gpus, dtype=np.float64)
    replicas = gpus / actor.backbone.ways
    at_once = np.minimum(np.asarray(asked.instances, dtype=np.float64), asked.count)
    on_gpu = acting.runs_on == "gpu"
    if on_gpu:
        actor = replace(actor, kv_gib=actor.kv_gib - bytes_to_gib(acting.memory_bytes) * at_once / gpus)
    one = inference_seconds(actor)
    fits = one.most >= 1.0
    one = Inference(slower * one.fixed, slower * one.each, np.maximum(one.most, 1.0))
    running = np.maximum(at_once / replicas, 1.0)
    world, mean = acting.world_seconds, acting.inferences_mean
    rounds = np.maximum(asked.count / at_once, 1.0) * mean
    thinking = one.seconds(running)
    together = thinking + world
    longer = max(acting.inferences_max - mean, 0.0)
    if asynchronous:
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
