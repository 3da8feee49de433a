"""The bill of a chosen column, and what is told with it: dollars by tier, storage and the worst case.

It comes from the costs' arithmetic, not from the objective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rlopt.answers.plan import Cost, Decisions, Kept, PlannedParts, PlannedRun, Pool, Time, WorstCase
from rlopt.assembly.chosen import ChosenColumn, ChosenPool
from rlopt.assembly.decisions import decisions_of
from rlopt.assembly.pools import cpu_pools, pool_of, spare_pools
from rlopt.assembly.timing import time_of
from rlopt.columns.pace import again, slower
from rlopt.costs import bill
from rlopt.costs.stored.copies import tariff_of
from rlopt.costs.stored.kept_bytes import charges, held_charges
from rlopt.costs.stored.tiers import free_share
from rlopt.problem import Problem
from rlopt.units import GIGA, bytes_to_gib


@dataclass(frozen=True, slots=True)
class Billed:
    """A run with its bill; the decisions say what each tier costs."""

    pools: list[Pool]
    time: Time
    decisions: Decisions
    cost: Cost
    worst: WorstCase | None


def billed(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> Billed:
    """Machines, hours and decisions with their bill, and that of the worst case where the request asks for one.

    ``machines`` are the column's own pools (`ChosenColumn.pools`), which take long to tell in detail.
    """
    problem = chosen.problem
    pools = [pool_of(one, problem) for one in machines]
    pools += [*spare_pools(chosen, pools[0]), *cpu_pools(chosen)]
    run = PlannedParts(pools, time_of(chosen, machines), decisions_of(chosen, machines))
    lines = bill(run, problem)
    storage = {line.item.split()[0]: line.usd for line in lines if line.dimension == "storage"}
    tiers = [
        use.model_copy(update={"usd": sum(storage.get(role, 0.0) for role in use.roles)})
        for use in run.decisions.checkpoint.tiers
    ]
    told = {
        "checkpoint": run.decisions.checkpoint.model_copy(update={"tiers": tiers}),
        "storage": kept(run, problem),
    }
    cost = Cost(total_usd=math.fsum(line.usd for line in lines), lines=lines)
    return Billed(pools, run.time, run.decisions.model_copy(update=told), cost, worst_case(chosen))


def worst_case(chosen: ChosenColumn) -> WorstCase | None:
    """Hours and bill if every step is as slow as the worst case that the request asks for; None without one."""
    times = chosen.problem.request.limits.robust.time
    if times == 1.0:
        return None
    slow = slower(chosen.problem, times)
    slowed = ChosenColumn(slow, again(slow, chosen.column))
    late = billed(slowed, slowed.pools())
    return WorstCase(times=times, total_usd=late.cost.total_usd, time=late.time, checkpoint=late.decisions.checkpoint)


def kept(plan: PlannedRun, problem: Problem) -> list[Kept]:
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


def storage_gib(plan: PlannedRun, problem: Problem) -> float:
    """Storage bought at its peak: copies by tier, what else is held, rented disks, and the share kept free."""
    copied = sum(use.gib for use in plan.decisions.checkpoint.tiers)
    stays = [stay for stay, _, _ in held_charges(plan, problem, tariff_of(plan, problem)).values()]
    held = sum(float(stay.gb) for stay in stays)
    rented = sum(pool.disk_gb for pool in plan.pools)
    bought = (copied + bytes_to_gib((held + rented) * GIGA)) / (1.0 - free_share(problem))
    load = plan.decisions.load
    return bought if load is None else bought + bytes_to_gib(load.units * load.gb * GIGA)  # its free share is in it
