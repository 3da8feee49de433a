"""Machines without GPUs beside the pools: what they boot from, those of environments, a vCPU for compression."""

from __future__ import annotations

from dataclasses import replace

from rlopt.errors import MissingFactError
from rlopt.facts import Nodes
from rlopt.market.cpu_book import VCPU_HOUR, CpuBook
from rlopt.problem.tariff import CpuPool, Disk
from rlopt.request import Request
from rlopt.units import GIB, bytes_to_gb, bytes_to_gib
from rlopt.workloads import Workload

Place = tuple[str, str | None]
"""Provider and region."""


def booting(machines: CpuPool | None, disk: Disk | None, nodes: Nodes) -> CpuPool | None:
    """The machines with a volume each to boot from; not where the request prices CPU time instead of machines."""
    if machines is None or disk is None or machines.offer == VCPU_HOUR:
        return machines
    return replace(machines, boot_gb=machines.nodes * bytes_to_gb(nodes.disk_image_gib * GIB))


def compression_vcpu(machines: CpuBook, request: Request, place: Place) -> tuple[CpuPool | None, list[str]]:
    """One vCPU for what may be compressed, and what to say of its price."""
    packed = request.job.compression  # checkpoints are packed by the processors of their own machines
    if packed.trajectories is None and packed.intermediates is None and packed.logs is None:
        return None, []
    return machines.cpu("compression", 1.0, 0.0, 1, *place)


def environment_machines(
    machines: CpuBook, workload: Workload, instances: int, place: Place
) -> tuple[CpuPool | None, list[str]]:
    """CPU machines of ``instances`` tools or simulators; none for robots and for simulators on the pool's GPUs.

    Raises MissingFactError where no price of such machines is known.
    """
    tools, acting = workload.tools, workload.acting
    held = tools or acting
    if held is None or not instances:
        return None, []
    if acting is not None and (acting.kind == "robot" or acting.runs_on == "gpu"):
        return None, []
    found, more = machines.cpu("environment", held.vcpus, bytes_to_gib(held.memory_bytes), instances, *place)
    if found is None:
        raise MissingFactError("the price of CPU machines", "the environment", "give costs.vcpu_hour")
    return found, more
