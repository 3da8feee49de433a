"""Machines without GPUs of a chosen column, in domain words."""

from __future__ import annotations

from typing import Final

from rlopt.answers.plan import Pool
from rlopt.assembly import loading as decided_load
from rlopt.market.scorers import SCORERS
from rlopt.problem import Columns, Problem
from rlopt.problem.load_table import PREPARATION
from rlopt.words import StageKind

CPU_ROLES: Final = {"environment": StageKind.ENVIRONMENT, SCORERS: StageKind.SCORE, PREPARATION: StageKind.LOAD}
"""What CPU machines do, by their name; the head node controls."""


def cpu_pools(columns: Columns, j: int, problem: Problem) -> list[Pool]:
    """Head node, environment machines, scorers and machines that prepare samples of one column."""
    variant, environment = int(columns.variant[j]), int(columns.environment[j])
    rented = list(problem.tariffs[int(columns.zone[j])].cpu_pools(environment, variant))
    prepares = decided_load.preparation(columns, j, problem)
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
