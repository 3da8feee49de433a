"""The pools of a chosen joint column in domain words: machines, layout, memory, and what stands ready."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rlopt.answers.plan import LayoutChoice, Memory, Pool
from rlopt.pools.node.host import node_memory_gib
from rlopt.problem import Columns, Pools, Problem
from rlopt.problem.detail import PoolDetail
from rlopt.words import ASYNC, COLOCATED


@dataclass(frozen=True, slots=True)
class Chosen:
    """One pool of the plan: its candidate, what it does, and its part of the samples where the pool is mixed."""

    name: str
    pools: Pools
    row: int
    detail: PoolDetail
    share: float | None = None


def pool_of(one: Chosen, problem: Problem) -> Pool:
    """A chosen pool as the plan tells it."""
    pools, row, detail = one.pools, one.row, one.detail
    offer = problem.market.offers[int(pools.offer[row])]
    capacity = float(node_memory_gib(problem.market)[int(pools.offer[row])])
    stays = problem.elastic and pools is problem.rollout
    return Pool(
        name=one.name,
        roles=list(detail.roles),
        serves=list(detail.serves),
        provider=offer.provider,
        region=offer.region,
        zone=offer.zone,
        instance_type=offer.shape.instance_type,
        gpu=offer.shape.device,
        gpus_per_node=offer.shape.gpus,
        nodes=int(pools.nodes[row]),
        gpus=int(pools.gpus[row]),
        pricing=offer.pricing,
        usd_per_hour=float(pools.usd_per_hour[row]),
        layout=LayoutChoice.model_validate(dict(detail.layout)),
        precision=detail.precision,
        offer=offer.id,
        failures_per_hour=0.0 if stays else float(pools.failures_per_hour[row]),
        lost_per_hour=float(pools.failures_per_hour[row]) if stays else 0.0,
        faults_per_hour=_faults(one, problem),
        term_hours=float(pools.term_hours[row]) or None,
        share=one.share,
        disk_gb=float(pools.disk_gb[row]),
        disk_gib=float(pools.disk_gib[row]) or None,
        memory=Memory(
            needed_gib=detail.needed_gib,
            capacity_gib=detail.capacity_gib,
            frozen_gib=detail.frozen_gib,
            host_gib=float(pools.host_gib[row]) or None,
            host_capacity_gib=None if math.isnan(capacity) else capacity,
            stage=detail.peak_stage,
            parts=dict(detail.parts),
            stages={
                stage: {name: gib for name, gib in parts.items() if gib > 0.0}
                for stage, parts in detail.by_stage.items()
            },
        ),
    )


def _faults(one: Chosen, problem: Problem) -> float:
    """Failures per hour of a pool's machines, reclaims left out."""
    if problem.faults_per_node is None:
        return float(one.pools.failures_per_hour[one.row])
    return int(one.pools.nodes[one.row]) * float(problem.faults_per_node[int(one.pools.offer[one.row])])


def spare_pools(columns: Columns, j: int, train: Pool, problem: Problem) -> list[Pool]:
    """Nodes of the training pool's offer that stand ready: they do no work and stop nothing when they fail."""
    count = problem.recovery_options[int(columns.recovery[j])].spare_nodes
    if not count:
        return []
    each = {"usd_per_hour": train.usd_per_hour / train.nodes * count, "disk_gb": train.disk_gb / train.nodes * count}
    idle = {"layout": None, "precision": None, "memory": None, "failures_per_hour": 0.0, "faults_per_hour": 0.0}
    held = {"nodes": count, "gpus": train.gpus_per_node * count, **each}
    return [train.model_copy(update={"name": "spare", "roles": ["spare"], "serves": [], **held, **idle})]


def chosen_pools(columns: Columns, j: int, problem: Problem) -> list[Chosen]:
    """The pools with GPUs of joint column ``j``, the one that trains first."""
    estimates, first = problem.estimates, int(columns.train[j])
    if columns.placement[j] == COLOCATED:
        name = "main" if problem.workload.generates else "train"
        detail = estimates.colocated_detail(int(problem.colocated.estimate[first]))
        return [Chosen(name, problem.colocated, first, detail)]
    found = [Chosen("train", problem.training, first, estimates.training_detail(int(problem.training.estimate[first])))]
    steady = bool(columns.placement[j] == ASYNC)
    for name, pools, index, second, split in (
        ("rollout", problem.rollout, columns.rollout, columns.rollout2, columns.split),
        ("score", problem.scoring, columns.score, columns.score2, columns.score_split),
    ):
        rows = [int(part[j]) for part in (index, second) if part[j] >= 0]
        shares = [1.0] if len(rows) == 1 else [float(split[j]), 1.0 - float(split[j])]
        for number, (row, share) in enumerate(zip(rows, shares, strict=False), start=1):
            estimate = int(pools.estimate[row])
            detail = (
                estimates.rollout_detail(estimate, steady, share)
                if pools is problem.rollout
                else estimates.scoring_detail(estimate, share)
            )
            mixed = len(rows) > 1
            found.append(Chosen(f"{name}-{number}" if mixed else name, pools, row, detail, share if mixed else None))
    return found
