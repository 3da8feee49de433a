"""What was left out of the pools, counted by reason, and what a plan has to say of it and of the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from rlopt.facts import Catalog
from rlopt.market.recovery_options import notes as recovery_notes
from rlopt.pools.parts import PartTables
from rlopt.pools.training.room import closest_of
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Floats, Market
from rlopt.problem.detail import Nearest
from rlopt.request import Request
from rlopt.workloads import Workload
from rlopt.workloads.policy_loss import LIKELIHOOD, unrolled

MEMORY = "needs more memory than there is"
NO_FAILURE_RATE = "no failure rate is known"
NO_PEAK = "the GPU's peak at a wanted precision is not known"
SEARCHED_GPUS = 512
"""Pools are searched up to this many GPUs where the request sets no limit; a plan then says so."""


def left_out(tables: PartTables, market: Market, stops: Floats) -> dict[str, int]:
    """Candidates and offers that are no pools, by reason."""
    found: Counter[str] = Counter(market.left_out)
    found[MEMORY] = sum(
        table.misfits if isinstance(table, TrainingTable) else table.tried - len(table) for table in tables.every
    )
    unknown = {NO_FAILURE_RATE: int(np.isnan(stops).sum()), NO_PEAK: sum(table.unknown for table in tables.every)}
    return dict(found) | {reason: count for reason, count in unknown.items() if count}


def fact_notes(
    request: Request, market: Market, catalog: Catalog, excluded: dict[str, int], prepares: bool
) -> list[str]:
    """What the facts leave out or assume. ``prepares``: whether vCPUs prepare samples as the catalogs assume."""
    counts = [(excluded[reason], reason) for reason in (NO_FAILURE_RATE, NO_PEAK) if reason in excluded]
    found = [f"{count:,} candidates left out: {reason}" for count, reason in counts]
    if request.limits.max_gpus is None:
        found.append(f"limits.max_gpus is not set: plans of up to {SEARCHED_GPUS} GPUs were searched")
    if catalog.operations.assumed:
        assumed = (*catalog.operations.assumed, *catalog.nodes.assumed_by(prepares=prepares))
        found.append("assumed, not measured: " + ", ".join(assumed))
    return [*found, *_without_network(request, market), *_without_people(request), *recovery_notes(request, catalog)]


def _without_network(request: Request, market: Market) -> list[str]:
    """What a floor on the simulators' bandwidth leaves out because a machine's network is not stated."""
    world = request.job.environment
    if request.floors.simulator_bandwidth is None or world is None or world.kind == "tools":
        return []
    unknown = sum(offer.shape.internode_gbps is None for offer in market.offers)
    text = (
        f"{unknown:,} offers whose network is not known: left out, floors.simulator_bandwidth cannot be shown to hold"
    )
    return [text] if unknown else []


def _without_people(request: Request) -> list[str]:
    """What to say where no person is billed; nothing where the request prices an hour at 0 on purpose."""
    price, costs = request.costs.engineer_hour, request.costs
    if price is None:
        return ["people are not on the bill: give costs.engineer_hour with setup_hours or on_call_hours_per_day"]
    hours = any(costs.setup_hours.of(name) for name in request.placements) or costs.on_call_hours_per_day
    hours = hours or costs.hours_per_failure or costs.hours_per_trial or costs.waiting_people
    automatic = costs.idle.automatic is not None
    if not price.amount or hours or automatic:
        return []
    return ["people are not on the bill: costs.engineer_hour is given without setup_hours or on_call_hours_per_day"]


def job_notes(request: Request, workloads: Sequence[Workload], nearest: Sequence[Nearest | None]) -> list[str]:
    """On how the job acts, of any of its ways, and on memory that no layout has."""
    return [
        *dict.fromkeys(_dear(request, workloads)),
        *_screening(request, workloads[0]),
        *_misfit(request, workloads[0], nearest),
    ]


def _dear(request: Request, workloads: Sequence[Workload]) -> Iterator[str]:
    for workload in workloads:
        steps = 1 if workload.acting is None else unrolled(request, workload.acting)
        if steps > 1:
            yield (
                f"job.action.policy_loss ppo on a flow head is dear: the stage {LIKELIHOOD} and the update run all "
                f"{steps} flow steps of every trained sample, and the update keeps the activations of each; awr and "
                "advantage_conditioned run one"
            )


def _screening(request: Request, workload: Workload) -> Iterator[str]:
    drop = request.job.filter
    if drop.before_storage and workload.acting is not None and not any(role.name == "value" for role in workload.roles):
        yield "job.filter.before_storage drops samples without a value model: what judges them takes no time here"
    if drop.before_storage and drop.drop == 0.0:
        yield "job.filter.before_storage has nothing to drop (drop: 0): nothing is screened where it is collected"


def _misfit(request: Request, workload: Workload, nearest: Sequence[Nearest | None]) -> Iterator[str]:
    """What the closest layout needs where no layout of any training pool fits; nothing where one does."""
    closest = closest_of(nearest)
    if closest is None:
        return
    needed, capacity, stage = closest.needed_gib, closest.capacity_gib, closest.stage
    steps = 1 if workload.acting is None else unrolled(request, workload.acting)
    where = f"stage {stage}"
    if steps > 1 and stage in ("update policy", "forward policy", "forward action"):
        where = f"stage {LIKELIHOOD} ({stage}), which unrolls {steps} flow steps"
    yield (
        f"no training layout fits: the closest needs {needed:.4g} GiB per GPU in {where}; {capacity:.4g} GiB are there"
    )
