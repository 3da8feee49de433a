"""What was decided beside the pools, in the plan's words: checkpoints and the time they take, data, environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlopt.answers.plan import CheckpointDecision, Kept, Move, Plan, StageTime, TierUse
from rlopt.columns.checkpoint_compression import hours_per_gb, size_share
from rlopt.costs.stored.copies import copies, left_way, tariff_of, weight_ways
from rlopt.costs.stored.kept_bytes import charges
from rlopt.costs.stored.tier_moves import NEVER
from rlopt.market.scorers import SCORERS
from rlopt.problem import Columns, Problem
from rlopt.units import GIGA, SECONDS_PER_HOUR, bytes_to_gib
from rlopt.words import COLOCATED, StageKind
from rlopt.workloads.variants import Variant


def checkpoint(columns: Columns, j: int, problem: Problem) -> CheckpointDecision:
    """Tiers of the recent, best and history copies as the cost terms chose them, each tier's copies at their peak."""
    zone, tier = int(columns.zone[j]), int(columns.tier[j])
    tiers = problem.tariffs[zone].tiers
    recent, best, history = copies(problem, int(columns.steps[j]))
    one = columns.take(slice(j, j + 1))
    best_way, history_way = weight_ways(one, problem)
    best_tier, history_tier = int(best_way.first[0]), int(history_way.first[0])
    share = float(np.reshape(size_share(problem, one.recovery), -1)[0])
    weights = problem.checkpoint.weights_of(int(columns.variant[j])) * share
    state = problem.checkpoint.state_bytes(int(columns.variant[j])) * share
    uses = [(tier, "recent", recent, state)]
    uses += [(best_tier, "best", best, weights)] if best else []
    uses += [(history_tier, "history", history, weights)] if history else []
    found = []
    for number in dict.fromkeys(use[0] for use in uses):
        here = [use for use in uses if use[0] == number]
        size = sum(count * size for _, _, count, size in here)
        found.append(
            TierUse(
                tier=tiers[number].name,
                copies=sum(count for _, _, count, _ in here),
                usd=0.0,
                gib=bytes_to_gib(size),
                roles=[role for _, role, _, _ in here],
            )
        )
    moves = [
        Move(role=role, to=tiers[int(way.second[0])].name, after_hours=float(way.after[0]))
        for role, way in (("recent", left_way(one, problem)[1]), ("best", best_way))
        if way.second[0] != NEVER
    ]
    return CheckpointDecision(
        interval_steps=int(columns.interval_steps[j]),
        tiers=found,
        recovery_minutes=float(columns.recovery_minutes[j]),
        compressed=problem.recovery_options[int(columns.recovery[j])].compressed,
        moves=moves,
    )


def kept(plan: Plan, problem: Problem) -> list[Kept]:
    """Where everything beside the checkpoints stands, and where it moves to."""
    return [
        Kept(
            item=item,
            tier=route.first.name,
            gib=bytes_to_gib(float(stay.gb) * GIGA),
            hours=float(stay.hours),
            to=route.second.name if route.second else None,
            after_hours=route.after if route.second else None,
            compressed=compressed,
        )
        for item, (stay, route, _, _, compressed) in charges(plan, problem, tariff_of(plan, problem)).items()
        if stay.gb
    ]


def saving_hours(columns: Columns, j: int, problem: Problem) -> float:
    """Hours of one run in which steps stand still: copies off the GPUs, and uploads beyond the next save."""
    pools = problem.colocated if columns.placement[j] == COLOCATED else problem.training
    state, steps = float(problem.checkpoint.state_gb(int(columns.variant[j]))), int(columns.interval_steps[j])
    between = steps * float(columns.step_seconds[j])
    off = state / (problem.operations.checkpoint_snapshot_gb_s_per_gpu * int(pools.gpus[columns.train[j]]))
    speed = float(problem.tiers.gb_s_per_node[columns.zone[j], columns.tier[j]])
    one = columns.take(slice(j, j + 1))
    share = float(np.reshape(size_share(problem, one.recovery), -1)[0])
    offer = pools.offer[columns.train[j : j + 1]]
    work = float(np.reshape(hours_per_gb(problem, offer, one.nodes, one.recovery), -1)[0]) * SECONDS_PER_HOUR
    upload = state * share / (speed * int(columns.nodes[j])) + state * work
    saves = float(columns.steps[j]) / steps
    return saves * (off + max(upload - between, 0.0)) / SECONDS_PER_HOUR


def data(variant: Variant, problem: Problem) -> dict[str, Any] | None:
    """What was decided about the data: cleaning, stored log-probabilities, bins of the value model."""
    found: dict[str, Any] = {}
    if problem.request.job.cleaning_is_open or problem.request.job.data.cleaned:
        found["cleaned"] = variant.cleaned
    if variant.log_probs is not None:
        found["log_probs"] = variant.log_probs
    if variant.value_bins is not None:
        found["value_bins"] = variant.value_bins
    return found or None


def recovery(columns: Columns, j: int, problem: Problem) -> dict[str, Any] | None:
    """How the run gets over the loss of a machine; None where the request asks nothing of it."""
    asked = problem.request
    if asked.recovery == type(asked.recovery)() and asked.checkpoint == type(asked.checkpoint)():
        return None
    recovery = problem.recovery_options[int(columns.recovery[j])]
    return {
        "spare_nodes": recovery.spare_nodes,
        "rollouts_every": recovery.rollouts_every or None,
        "elastic": problem.elastic,
    }


def kernels(variant: Variant, problem: Problem) -> dict[str, str]:
    """Kernels of the training stack that memory and time are counted with."""
    used = variant.kernels or problem.request.job.kernels
    return {"loss": used.loss, "attention": used.attention}


def cpu_stages(columns: Columns, j: int, problem: Problem) -> list[StageTime]:
    """Seconds that machines without GPUs score in one step; nothing where they do not."""
    variant, size = problem.variants[int(columns.variant[j])], int(columns.group_size[j])
    if variant.cpu is None:
        return []
    seconds = variant.cpu.seconds(variant.workload, size)
    return [StageTime(stage=StageKind.SCORE, pool=SCORERS, seconds=seconds, model="reward")]


def environment(option: int, problem: Problem) -> dict[str, Any] | None:
    """The environment's kind and how many copies of it run."""
    environment = problem.request.job.environment
    if environment is None or not problem.workload.instances:
        return None
    return {"kind": environment.kind, "instances": problem.workload.instances[option]}
