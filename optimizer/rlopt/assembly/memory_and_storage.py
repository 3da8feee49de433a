"""What a plan needs beside GPUs, added up over its pools: storage bought, and host memory that nobody states."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.plan import Plan, Pool
from rlopt.costs.stored.copies import tariff_of
from rlopt.costs.stored.kept_bytes import held_charges
from rlopt.costs.stored.tiers import free_share
from rlopt.problem import Problem
from rlopt.units import GIGA, bytes_to_gib


def storage_gib(plan: Plan, problem: Problem) -> float:
    """Storage bought at its peak: copies by tier, what else is held, rented disks, and the share kept free."""
    copied = sum(use.gib for use in plan.decisions.checkpoint.tiers) if plan.decisions else 0.0
    stays = [stay for stay, _, _ in held_charges(plan, problem, tariff_of(plan, problem)).values()]
    held = sum(float(stay.gb) for stay in stays)
    rented = sum(pool.disk_gb for pool in plan.pools)
    bought = (copied + bytes_to_gib((held + rented) * GIGA)) / (1.0 - free_share(problem))
    load = None if plan.decisions is None else plan.decisions.load
    return bought if load is None else bought + bytes_to_gib(load.units * load.gb * GIGA)  # its free share is in it


def host_warnings(pools: Sequence[Pool]) -> list[str]:
    """Machines whose host memory the catalog does not know, and what a node of them must have."""
    return [
        f"{pool.offer}: its host memory is not known; see that a node has {pool.memory.host_gib:,.0f} GiB"
        for pool in pools
        if pool.memory and pool.memory.host_gib and pool.memory.host_capacity_gib is None
    ]
