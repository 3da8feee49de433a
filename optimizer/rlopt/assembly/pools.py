"""The pools of a chosen column in domain words: machines, layout, memory, what stands ready, what has no GPU."""

from __future__ import annotations

import math
from typing import Final

from rlopt.answers.plan import LayoutChoice, Memory, Pool
from rlopt.assembly.chosen import ChosenColumn, ChosenPool
from rlopt.assembly.loading import preparation
from rlopt.market.cpu_machines import SCORERS
from rlopt.pools.node.host import node_memory_gib
from rlopt.problem import Problem
from rlopt.problem.loading import PREPARATION
from rlopt.words import StageKind

CPU_ROLES: Final = {"environment": StageKind.ENVIRONMENT, SCORERS: StageKind.SCORE, PREPARATION: StageKind.LOAD}
"""What CPU machines do, by their name; the head node controls."""


def pool_of(one: ChosenPool, problem: Problem) -> Pool:
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


def _faults(one: ChosenPool, problem: Problem) -> float:
    """Failures per hour of a pool's machines, reclaims left out."""
    if problem.faults_per_node is None:
        return float(one.pools.failures_per_hour[one.row])
    return int(one.pools.nodes[one.row]) * float(problem.faults_per_node[int(one.pools.offer[one.row])])


def spare_pools(chosen: ChosenColumn, train: Pool) -> list[Pool]:
    """Nodes of the training pool's offer that stand ready: they do no work and stop nothing when they fail."""
    count = chosen.problem.recovery_options[int(chosen.column.recovery[0])].spare_nodes
    if not count:
        return []
    each = {"usd_per_hour": train.usd_per_hour / train.nodes * count, "disk_gb": train.disk_gb / train.nodes * count}
    idle = {"layout": None, "precision": None, "memory": None, "failures_per_hour": 0.0, "faults_per_hour": 0.0}
    held = {"nodes": count, "gpus": train.gpus_per_node * count, **each}
    return [train.model_copy(update={"name": "spare", "roles": ["spare"], "serves": [], **held, **idle})]


def cpu_pools(chosen: ChosenColumn) -> list[Pool]:
    """Head node, environment machines, scorers and machines that prepare samples."""
    rented = list(chosen.tariff.cpu_pools(chosen.environment, chosen.variant_number))
    prepares = preparation(chosen)
    return [
        Pool(
            name=cpu.name,
            roles=[CPU_ROLES.get(cpu.name, "control")],
            serves=["reward"] if cpu.name == SCORERS else [],
            provider=cpu.provider,
            region=cpu.region,
            zone=None,
            instance_type=cpu.instance_type,
            gpu=None,
            gpus_per_node=0,
            nodes=cpu.nodes,
            gpus=0,
            pricing="on_demand",
            usd_per_hour=cpu.usd_per_hour,
            layout=None,
            precision=None,
            memory=None,
            offer=cpu.offer,
            disk_gb=cpu.boot_gb,
        )
        for cpu in [*rented, *([] if prepares is None else [prepares])]
    ]
