"""Seconds of loading once more, from a plan's own numbers: the twin of `pools.loading.pools` that an audit compares."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rlopt.answers.plan import LoadDecision, PlannedRun
from rlopt.costs.mounts import mount_of
from rlopt.costs.stored.copies import tariff_of
from rlopt.problem import Problem
from rlopt.units import GIB, GIGA, KILO, bytes_to_gb
from rlopt.words import StageKind

RELATIVE = 1e-6


def load_faults(plan: PlannedRun, problem: Problem) -> Iterator[str]:
    """What is wrong with a plan's loading; nothing where no step reads samples."""
    made = plan.decisions.load
    if made is None or problem.loading is None:
        return
    seconds = load_seconds(plan, made, problem)
    said = math.fsum(stage.seconds for stage in plan.time.stages if stage.stage == StageKind.LOAD)
    hidden = math.fsum(stage.hidden_seconds for stage in plan.time.stages if stage.stage == StageKind.LOAD)
    if abs(seconds - said) > RELATIVE * max(1.0, seconds):
        yield f"loading takes {seconds:g} s a step, the plan says {said:g}"
    if abs(said - hidden - made.stall_seconds) > RELATIVE * max(1.0, said) or made.stall_seconds < 0.0:
        yield f"of {said:g} s of loading {hidden:g} are hidden, yet a step waits {made.stall_seconds:g}"
    rented = [pool for pool in plan.pools if pool.roles == [StageKind.LOAD]]
    if sum(pool.nodes for pool in rented) != made.nodes:
        yield f"{made.nodes} machines prepare samples, the pools are {sum(pool.nodes for pool in rented)}"
    if made.mounted is None:
        return
    mount = mount_of(plan, problem)
    if mount is None:
        yield f"no store of the zone is called {made.mounted}"
        return
    speed = mount.speed
    if made.units * made.gb < bytes_to_gb(problem.loading.data_gib * GIB) * (1.0 - RELATIVE):
        yield f"{made.units} x {made.gb:g} GB of {made.mounted} do not hold the data set"
    given = speed.included_mb_s + speed.mb_s_per_gb * made.gb + made.paid_mb_s
    if made.mb_s > given * (1.0 + RELATIVE) or (speed.most_mb_s or math.inf) * (1.0 + RELATIVE) < made.mb_s:
        yield f"{made.mounted} of {made.gb:g} GB reads {given:g} MB/s, the plan counts on {made.mb_s:g}"


def load_seconds(plan: PlannedRun, made: LoadDecision, problem: Problem) -> float:
    """Seconds to read and prepare the samples of one step, from the decision and the pool that trains."""
    table = problem.loading
    trains = next(pool for pool in plan.pools if StageKind.TRAIN in pool.roles)
    if table is None:
        return 0.0
    offer = next(number for number, one in enumerate(problem.market.offers) if one.id == trains.offer)
    samples = table.samples[plan.decisions.group_size or 1]
    if made.mounted is None:
        rate = trains.nodes * float(table.object_gb_s[problem.tariffs.index(tariff_of(plan, problem))])
    else:
        mount = mount_of(plan, problem)
        client = math.inf if mount is None else mount.speed.most_mb_s_per_node or math.inf
        rate = min(made.units * made.mb_s, trains.nodes * client) / KILO
    rate = min(rate, trains.nodes * float(table.link_gb_s[offer]))
    work, workers = samples * table.vcpu_seconds, trains.nodes * float(table.host_vcpus[offer]) + made.vcpus
    prepared = 0.0 if not work else work / workers if workers else math.inf
    return problem.pace * max(samples * table.sample_bytes / GIGA / rate, prepared)
