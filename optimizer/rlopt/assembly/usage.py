"""What a finished plan uses: tokens, bytes handed over, gradients, growth of storage, useful arithmetic."""

from __future__ import annotations

import math
from collections.abc import Container

from rlopt.answers.plan import BilledRun, PlannedRun
from rlopt.answers.usage import Usage
from rlopt.assembly.bottlenecks import pool_uses
from rlopt.assembly.chosen import ChosenColumn
from rlopt.costs.contract import plan_weights_gb
from rlopt.costs.metrics import written
from rlopt.costs.stored.copies import copies, tariff_of
from rlopt.costs.stored.kept_bytes import charges
from rlopt.costs.text_log import FILES, gb_per_sample, text_gb
from rlopt.estimates.loop.transfer import WEIGHT_BYTES
from rlopt.estimates.roles import POLICY, moved_params, role_shape, role_training
from rlopt.estimates.training.useful import once_flops, step_flops
from rlopt.problem import Problem
from rlopt.problem.detail import PoolDetail
from rlopt.units import HOURS_PER_DAY, KILO, MEGA, SECONDS_PER_HOUR, bytes_to_gb
from rlopt.words import StageKind
from rlopt.workloads.tokens import sampled_tokens, trained_tokens
from rlopt.workloads.variants import Variant

PFLOP_DAY = 1e15 * SECONDS_PER_HOUR * HOURS_PER_DAY
"""FLOPs of a machine that does 10^15 a second for a day."""


def usage_of(chosen: ChosenColumn, trainer: PoolDetail, plan: BilledRun, before: Container[str]) -> Usage:
    """Usage of a run with its bill; ``trainer`` is the pool that trains, ``before`` names the phases before the job."""
    variant, problem = chosen.variant, chosen.problem
    size, steps = plan.decisions.group_size or 1, plan.time.steps
    trained = {role: tokens * steps for role, tokens in trained_tokens(variant.workload, size).items()}
    useful = pflop_days(variant, size, steps, problem)
    runs = problem.request.billed_runs
    paid = [line for line in plan.cost.lines if not (line.dimension == "compute" and line.item in before)]
    whole = math.fsum(line.usd for line in paid)
    compute = math.fsum(line.usd for line in paid if line.dimension == "compute")
    most = max((trained[role] for role in POLICY if role in trained), default=0.0)
    sent = _handed_over(plan, variant, problem) if variant.workload.generates else None
    return Usage(
        **_sampled(plan, variant, size),
        training_tokens=trained,
        handover_gb_per_step=sent,
        handover_gb=None if sent is None else sent * steps,
        gradient_gb_per_node=trainer.gradient_gb[0],
        gradient_gb_leaving_node=trainer.gradient_gb[1],
        storage_growth_gb_per_day=_growth(plan, variant, problem),
        pools=pool_uses(plan),
        useful_pflop_days=useful,
        compute_usd_per_pflop_day=_each(compute, useful * runs),
        usd_per_pflop_day=_each(whole, useful * runs),
        usd_per_million_training_tokens=_each(whole, most / MEGA * runs),
    )


def _each(usd: float, amount: float) -> float | None:
    return usd / amount if amount > 0.0 else None


def _sampled(plan: PlannedRun, variant: Variant, size: int) -> dict[str, float | None]:
    """Tokens that a run samples; pools that share the samples generate side by side, so the slowest of them counts."""
    if not variant.workload.generates:
        return {}
    prompt, response = sampled_tokens(variant.workload, size)
    seconds = max((stage.seconds for stage in plan.time.stages if stage.stage == StageKind.SAMPLE), default=0.0)
    return {
        "prompt_tokens": prompt * plan.time.steps,
        "response_tokens": response * plan.time.steps,
        "seconds_per_1000_tokens": _each(seconds, response / KILO),
    }


def _handed_over(plan: PlannedRun, variant: Variant, problem: Problem) -> float:
    """GB that one step sends: trained weights of the policy, and on pools apart those of what screens, for each."""
    workload, trainable = variant.workload, problem.request.job.trainable
    names = {*POLICY, *(stage.role for stage in workload.screening)}
    moved = moved_params([role for role in workload.roles if role.name in names], trainable)
    pools = sum(StageKind.SAMPLE in pool.roles for pool in plan.pools)
    return bytes_to_gb(WEIGHT_BYTES * moved) * pools


def pflop_days(variant: Variant, size: int, steps: int, problem: Problem) -> float:
    """Useful PFLOP-days of one run."""
    roles = (*variant.workload.roles, *variant.once_roles)
    shapes = {role.name: role_shape(role) for role in roles}
    trainings = {role.name: role_training(problem.request, role) for role in roles if role.trained}
    shared = problem.catalog.calibration.value("generation", "most_shared")
    flops = steps * step_flops(variant.workload, shapes, trainings, size, shared)
    return (flops + once_flops(variant.once, variant.once_sequences, shapes, trainings)) / PFLOP_DAY


def _growth(plan: PlannedRun, variant: Variant, problem: Problem) -> dict[str, float]:
    """GB a day by item, none of it deleted while the run lasts."""
    tariff, steps, hours = tariff_of(plan, problem), plan.time.steps, plan.time.expected_hours
    trials = problem.request.job.trials
    history = copies(problem, steps)[2] * plan_weights_gb(plan, problem)
    found = {"history copies": history}
    samples = problem.workload.prompts_per_step * (plan.decisions.group_size or 1)
    rate, one = plan.decisions.logging.text_log_rate, gb_per_sample(problem, variant)
    found |= {item: float(gb) for item, gb in text_gb(problem, one, samples, steps, rate).items()}
    growing = {*FILES, *(("trajectories", "stored log-probabilities") if variant.workload.generates else ())}
    held = charges(plan, problem, tariff)  # as it is stored: compressed where that pays
    found |= {item: float(charge.stay.gb) / trials for item, charge in held.items() if item in growing}
    if tariff.metering is not None:
        gpus, point = sum(pool.gpus for pool in plan.pools), bytes_to_gb(tariff.metering.point_bytes)
        points = written(problem, steps, gpus, hours)
        found |= {item: float(wrote.points) * point for item, wrote in points.items()}
    return {item: gb / hours * HOURS_PER_DAY for item, gb in found.items() if gb > 0.0}
