"""What was decided beside the pools, in the plan's words: precisions, checkpoints, data, kernels, environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlopt.answers.plan import CheckpointDecision, Decisions, LoggingDecision, Move, PrecisionDecision, TierUse
from rlopt.assembly.chosen import ChosenColumn, ChosenPool
from rlopt.assembly.loading import load
from rlopt.columns.checkpoint_compression import size_share
from rlopt.costs.operations import decision as release_decision
from rlopt.costs.stored.copies import copies, left_way, weight_ways
from rlopt.costs.stored.tier_moves import NEVER
from rlopt.market.volumes import frame_bytes
from rlopt.pools.sampling.detail import SCREENING
from rlopt.request import Job
from rlopt.units import bytes_to_gb, bytes_to_gib
from rlopt.words import Precision, StageKind
from rlopt.workloads.online import sampled_share
from rlopt.workloads.screening import screens
from rlopt.workloads.variants import Variant


def decisions_of(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> Decisions:
    """Everything that was open beside the machines; what it costs is told with the bill."""
    request, variant = chosen.problem.request, chosen.variant
    return Decisions(
        placement=chosen.placement,
        group_size=chosen.group_size if chosen.problem.workload.generates else None,
        precision=precision(machines),
        staleness=int(chosen.column.staleness[0]),
        checkpoint=checkpoint(chosen),
        logging=LoggingDecision(
            text_log_rate=request.floors.text_log_rate or 0.0, kept_in=request.job.text_log.kept_in
        ),
        data=data(variant, request.job),
        models=variant.models,
        kernels=kernels(variant, request.job),
        scoring=variant.scored_on,
        environment=environment(chosen),
        load=load(chosen),
        operations=release_decision(chosen.column, 0, chosen.problem),
        action_head=variant.action_head,
        screening=screening(chosen, machines),
        recovery=recovery(chosen),
    )


def precision(machines: Sequence[ChosenPool]) -> PrecisionDecision:
    """Number formats by kind of work; of several that score the one that is worth least."""
    scores = [one.detail.score_precision for one in machines if one.detail.score_precision]
    rollouts = [one.detail.rollout_precision for one in machines if one.detail.rollout_precision]
    return PrecisionDecision(
        rollout=rollouts[0] if rollouts else None,
        score=min(scores, key=lambda name: Precision(name).rank, default=None),
        update=machines[0].detail.precision,
    )


def checkpoint(chosen: ChosenColumn) -> CheckpointDecision:
    """Tiers of the recent, best and history copies as the cost terms chose them, each tier's copies at their peak."""
    problem, one = chosen.problem, chosen.column
    tier, tiers = int(one.tier[0]), chosen.tariff.tiers
    recent, best, history = copies(problem, int(one.steps[0]))
    best_way, history_way = weight_ways(one, problem)
    best_tier, history_tier = int(best_way.first[0]), int(history_way.first[0])
    share = float(np.reshape(size_share(problem, one.recovery), -1)[0])
    weights = problem.checkpoint.weights_of(chosen.variant_number) * share
    state = problem.checkpoint.state_bytes(chosen.variant_number) * share
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
        interval_steps=int(one.interval_steps[0]),
        tiers=found,
        recovery_minutes=float(one.recovery_minutes[0]),
        compressed=problem.recovery_options[int(one.recovery[0])].compressed,
        moves=moves,
    )


def data(variant: Variant, job: Job) -> dict[str, Any] | None:
    """What was decided about the data: cleaning, stored log-probabilities, bins of the value model."""
    found: dict[str, Any] = {}
    if job.cleaning_is_open or job.data.cleaned:
        found["cleaned"] = variant.cleaned
    if variant.log_probs is not None:
        found["log_probs"] = variant.log_probs
    if variant.value_bins is not None:
        found["value_bins"] = variant.value_bins
    return found or None


def recovery(chosen: ChosenColumn) -> dict[str, Any] | None:
    """How the run gets over the loss of a machine; None where the request asks nothing of it."""
    asked = chosen.problem.request
    if asked.recovery == type(asked.recovery)() and asked.checkpoint == type(asked.checkpoint)():
        return None
    recovery = chosen.problem.recovery_options[int(chosen.column.recovery[0])]
    return {
        "spare_nodes": recovery.spare_nodes,
        "rollouts_every": recovery.rollouts_every or None,
        "elastic": chosen.problem.elastic,
    }


def kernels(variant: Variant, job: Job) -> dict[str, str]:
    """Kernels of the training stack that memory and time are counted with."""
    used = variant.kernels or job.kernels
    return {"loss": used.loss, "attention": used.attention}


def environment(chosen: ChosenColumn) -> dict[str, Any] | None:
    """The environment's kind and how many copies of it run."""
    world = chosen.problem.request.job.environment
    return {"kind": world.kind, "instances": chosen.instances} if world is not None and chosen.instances else None


def screening(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> dict[str, Any] | None:
    """Samples screened before they are stored: seconds of a step that this takes, beside what it saves; None without.

    It saves GB that are not stored and not moved, and seconds of updates.
    """
    problem, workload = chosen.problem, chosen.variant.workload
    request, acts = problem.request, workload.acting
    if acts is None or not screens(request, workload):
        return None
    stages = [(stage.stage, stage.model, stage.seconds) for pool in machines for stage in pool.detail.stages]
    apart = [seconds for stage, _, seconds in stages if stage == SCREENING]
    together = [seconds for stage, model, seconds in stages if (stage, model) == (StageKind.SCORE, "value")]
    frame = frame_bytes(request, workload, problem.operations) * (1.0 - request.job.data.duplicate_share)
    dropped = workload.samples(chosen.group_size) * sampled_share(request) * acts.frames * request.job.filter.drop
    stored = bytes_to_gb(dropped * frame)
    return {
        "pool": "rollout" if apart else "main",
        "seconds": sum(apart or together),
        "stored_gb": stored,
        "traffic_gb": 2.0 * stored,  # written once and read once
        "update_seconds": sum(pool.detail.spared_seconds for pool in machines),
    }
