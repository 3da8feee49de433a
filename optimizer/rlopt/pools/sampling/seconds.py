"""Seconds of one step's sampling on a rollout engine, and of what a step evaluates.

Where a step may fall back to 16 bits, an engine of a lower precision must fit in both, and its seconds are those of
both by their share of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from rlopt.estimates import generation_seconds, lagging_sample, quantise_seconds, sample_factor, serving_engine
from rlopt.estimates.lengths import CutLognormal
from rlopt.estimates.sampling.acting import Actor, Trajectories, acting_seconds, planned_serving
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch
from rlopt.estimates.sampling.serving import Serving
from rlopt.pools.context import FALLBACK, Context
from rlopt.pools.sampling.engine import Engine, room_gib, worlds_gib
from rlopt.pools.scoring.screening import screening_ways
from rlopt.problem import Floats
from rlopt.words import StageKind
from rlopt.workloads import Stage, Tools

ONE_A_PROMPT = 1
"""Responses to a prompt of an evaluation."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """One step's sampling, shape (rows,) each.

    Parameters
    ----------
    seconds
        Of the step's samples, tool calls apart; infinite where not even one fits.
    evaluation_seconds
        Of what a step evaluates on average.
    world_seconds
        Part of ``seconds`` in which simulators or robots move.
    running
        Sequences or environments that a replica runs at once.
    utilization
        Share of the time that its batch is full, or that its GPUs are busy where it acts.
    screening_seconds, screening_gib
        Of scoring the samples before they are stored, and what that takes per GPU beside weights; 0 without.
    """

    seconds: Floats
    evaluation_seconds: Floats
    world_seconds: Floats
    running: Floats
    utilization: Floats
    screening_seconds: Floats | float = 0.0
    screening_gib: Floats | float = 0.0

    @property
    def total(self) -> Floats:
        """Samples, screening and evaluation, infinite where the engine cannot run or is not known."""
        total = self.seconds + self.evaluation_seconds + self.screening_seconds
        return np.where(np.isnan(total), np.inf, total)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a step asks of rollout engines.

    Parameters
    ----------
    group_size
        Samples of one prompt.
    asynchronous
        Whether the pool runs out of step: it then holds (1 + staleness) steps' sequences in flight, and waits for the
        longest responses as far as their lag does not hide them.
    share
        Part of the samples that falls to the pool, the rest to another of a mixed one; a number, or one a row.
    instances
        Copies of the environment.
    """

    group_size: int
    asynchronous: bool
    share: Floats | float = 1.0
    instances: int = 0


@dataclass(frozen=True, slots=True)
class _Sequences:
    """``count`` sequences of one stage, ``group_size`` to a prompt."""

    stage: Stage
    count: float
    group_size: int


def sample(context: Context, engine: Engine, demand: Demand) -> Sampled:
    """One step's sampling inside the loop of the framework planned with, and what a step evaluates.

    Weights are brought to an engine's lower precision before it samples.
    """
    found, fallback = _sample(context, engine, demand), context.workload.fallback_share
    if not context.falls_back(engine.precision):
        return found
    high = _sample(context, replace(engine, precision=FALLBACK), demand)
    blended = (
        (1.0 - fallback) * getattr(found, part.name) + fallback * getattr(high, part.name) for part in fields(Sampled)
    )
    return replace(Sampled(*blended), running=found.running, screening_gib=found.screening_gib)


def _sample(context: Context, engine: Engine, demand: Demand) -> Sampled:
    room, ways = room_gib(context, engine), screening_ways(context, engine, demand.group_size, demand.share)
    if not ways:
        return _within(context, engine, room, demand)
    tried = [
        replace(_within(context, engine, room - way.gib, demand), screening_seconds=way.seconds, screening_gib=way.gib)
        for way in ways
    ]
    best = np.argmin([one.total for one in tried], axis=0)
    return Sampled(*(np.choose(best, [getattr(one, part.name) for one in tried]) for part in fields(Sampled)))


def _within(context: Context, engine: Engine, room: Floats, demand: Demand) -> Sampled:
    """Samples and evaluation where the cache has ``room`` GiB per GPU."""
    stage, asked = context.workload.of_kind(StageKind.SAMPLE)[0], context.workload.evaluation
    samples = _Sequences(stage, context.sequences(stage, demand.group_size), demand.group_size)
    found = _rollout(context, engine, room, demand, samples)
    if engine.low:
        moved = context.moved.params
        seconds = found.seconds + quantise_seconds(context.framework, moved, engine.colocated, context.calibration)
        found = replace(found, seconds=seconds)
    if asked is None or asked.stage.kind != StageKind.SAMPLE:
        return found
    evaluated = _Sequences(asked.stage, float(asked.samples), ONE_A_PROMPT)
    once = _rollout(context, engine, room, replace(demand, asynchronous=False), evaluated)
    return replace(found, evaluation_seconds=once.seconds / asked.every)


def _rollout(context: Context, engine: Engine, room: Floats, demand: Demand, sequences: _Sequences) -> Sampled:
    """The pool's share of the sequences, in step or as far out of step as the staleness allows."""
    alone = _generated if context.workload.acting is None else _acted
    found = alone(context, engine, room, demand, sequences)
    if not demand.asynchronous:
        return found
    waiting = alone(context, engine, room, replace(demand, asynchronous=False), sequences).seconds
    lagging = lagging_sample(waiting, found.seconds, context.staleness, context.framework, context.calibration)
    return replace(found, seconds=lagging)


def _generated(context: Context, engine: Engine, room: Floats, demand: Demand, sequences: _Sequences) -> Sampled:
    """Text, as one engine of the loop samples it."""
    shape, calibration, lengths = context.shapes["policy"], context.calibration, sequences.stage.lengths
    hardware, tp, ep = engine.hardware, engine.tp, engine.ep
    family, name = context.workload.role("policy").model.name, serving_engine(context.framework, calibration)
    serving = Serving.planned(hardware, calibration, name, family)
    batch = Batch(
        prompt=(lengths.prompt_mean, lengths.prompt_max),
        response=(lengths.response_mean, lengths.response_max),
        per_replica=np.ceil(demand.share * sequences.count / (engine.gpus / np.maximum(tp, ep))),
        total=sequences.count,
        group_size=sequences.group_size,
        p99=(lengths.prompt_p99, lengths.response_p99),
    )
    replica = Replica(shape, hardware, tp, engine.precision, serving, calibration, ep)
    in_flight = 1.0 + context.staleness if demand.asynchronous else 1.0
    found = generation_seconds(replica, room, batch, not demand.asynchronous, in_flight)
    width = np.where(shape.moe, shape.expert_ffn / np.where(ep > tp, 1, tp), np.inf)
    slower = sample_factor(context.framework, hardware.generation, calibration, width)
    none = np.zeros(len(tp))
    return Sampled(slower * found.seconds, none, none, found.running, found.utilization)


def _acted(context: Context, engine: Engine, room: Floats, demand: Demand, sequences: _Sequences) -> Sampled:
    """Trajectories of a policy that acts: inferences are slower inside the loop, the world is not."""
    acting, calibration, hardware = context.workload.acting, context.calibration, engine.hardware
    if acting is None:
        raise LookupError("the job has no actions")
    instances, share = demand.instances, demand.share
    at_once = min(float(instances), sequences.count)
    beside = worlds_gib(context, engine, instances)
    # acting_seconds takes off the simulators that run: those that a mixed pool keeps room for come off before
    spared = beside * np.asarray(1.0 - share * at_once / instances)
    serving = planned_serving(hardware, calibration)
    backbone = Replica(context.shapes["policy"], hardware, engine.tp, engine.precision, serving, calibration)
    found = acting_seconds(
        Actor(backbone, context.shapes.get("action"), acting, room - spared),
        Trajectories(share * sequences.count, share * at_once, engine.gpus),
        demand.asynchronous,
        sample_factor(context.framework, hardware.generation, calibration),
    )
    none = np.zeros(len(engine.tp))
    return Sampled(found.seconds, none, found.world_seconds, found.running, found.utilization)


def sampled(context: Context, engine: Engine, size: int, asynchronous: bool) -> list[tuple[int, Floats]]:
    """Seconds of one step's sampling for each number of environment instances; infinite where it cannot run.

    Tools work beside the engine, whose own seconds do not depend on them (`with_tools` counts them in).
    """
    found: list[tuple[int, Floats]] = []
    for instances in context.instances:
        if found and context.workload.acting is None:
            found.append((instances, found[0][1]))
            continue
        found.append((instances, sample(context, engine, Demand(size, asynchronous, instances=instances)).total))
    return found


def with_tools(context: Context, seconds: Floats, size: int, instances: int, asynchronous: bool) -> Floats:
    """Sampling with tool calls: calls overlap across samples, and the last sample waits for its own.

    In step the batch is done when the sample with the longest calls is; out of step a sample's calls delay it alone,
    by their mean. An evaluation is a batch of its own in both.
    """
    tools, asked = context.workload.tools, context.workload.evaluation
    if tools is None:
        return seconds
    throughput = tools_seconds(context, size, instances)
    samples = context.sequences(context.workload.of_kind(StageKind.SAMPLE)[0], size)
    waits = tools.wait_seconds if asynchronous else _longest_calls(context, tools, samples)
    if asked is not None and asked.stage.kind == StageKind.SAMPLE:
        waits += _longest_calls(context, tools, asked.samples) / asked.every
    return np.maximum(seconds, throughput) + waits


def _longest_calls(context: Context, tools: Tools, samples: float) -> float:
    """Seconds that the sample which waits longest for its calls does, of ``samples``.

    Waits are spread as lengths are: a lognormal cut at the longest there may be.
    """
    spread = float(context.calibration.generation["length_cv"])
    return CutLognormal.of(tools.wait_seconds, tools.most_seconds, spread).expected_longest(samples)


def tools_seconds(context: Context, size: int, instances: int) -> float:
    """Seconds the environment machines need for one step's calls, those of its evaluation among them."""
    tools, asked = context.workload.tools, context.workload.evaluation
    if tools is None:
        return 0.0
    samples = context.sequences(context.workload.of_kind(StageKind.SAMPLE)[0], size)
    if asked is not None and asked.stage.kind == StageKind.SAMPLE:
        samples += asked.sequences
    return samples * tools.wait_seconds / instances
