"""A machine of one's own that no catalog lists."""

from __future__ import annotations

from typing import Final

from rlopt.answers.configuration import Configuration, PoolGiven
from rlopt.facts import Catalog
from rlopt.facts.offer import Shape
from rlopt.measured.names import find_machine
from rlopt.measured.rows import MeasuredRow

OWN_DISK_GIB: Final = 1e6
"""Disks of one's own machines are not on the bill: they are as large as is needed."""


def user_shape(
    config: Configuration, pool: PoolGiven, devices: frozenset[str] | None, catalog: Catalog, provider: str
) -> tuple[Shape, list[str]]:
    """A machine that no catalog lists: what is not stated of it is as in machines of that GPU that were measured."""
    if pool.gpu is None or devices is None:
        raise config.wrong(pool, "gpu", "is missing", "the GPU of your own machines", "add gpu: H100")
    usual = find_machine(MeasuredRow(0, {"gpu": pool.gpu}), catalog)
    names = sorted(devices)
    device = usual.device.name if not isinstance(usual, str) and usual.device.name in devices else names[0]
    notes = [f"{pool.gpu} is taken to be {device}"] if len(names) > 1 else []
    each = pool.gpus_per_node or (pool.gpus // pool.nodes if pool.gpus and pool.nodes else None)
    if each is None:
        full = 8 if isinstance(usual, str) else usual.gpus_per_node
        each = pool.gpus if pool.gpus and pool.gpus < full else full
        notes.append(f"machines of {each} {device}: gpus_per_node is not stated")
    if pool.gpus and pool.gpus % each:
        message = f"{pool.gpus} GPUs are no whole number of machines of {each}"
        raise config.wrong(pool, "gpus", message, f"a multiple of {each}", "correct it, or give gpus_per_node")
    link, gbps = pool.link, pool.node_gbps
    if link is None and each > 1:
        link = "pcie" if isinstance(usual, str) else usual.intra  # type: ignore[assignment]
        notes.append(f"GPUs of one machine are joined by {link}: link is not stated")
    many = (pool.nodes or 1) > 1 or (pool.gpus or each) > each
    if gbps is None and many:
        gbps = None if isinstance(usual, str) else usual.node_gbps
        notes.append(
            f"a network of {gbps:g} Gb/s a machine, as in published machines of this GPU: node_gbps is not stated"
            if gbps
            else "no network between the machines: node_gbps is not stated"
        )
    host = pool.host_memory_gib
    if host is None:
        host = _usual_host(device, each, catalog)
        notes.append(
            f"{host:,.0f} GiB of host memory a machine, the least of those rented with {each} {device}: "
            "host_memory_gib is not stated"
            if host
            else "nothing is offloaded to host memory: host_memory_gib is not stated"
        )
    name = pool.instance_type or f"{each}x {device}"
    shape = Shape(
        key=f"{provider}/{name}",
        provider=provider,
        instance_type=name,
        aliases=(),
        device=device,
        gpus=each,
        intra=link or "none",
        vcpus=None,
        host_memory_gib=host,
        local_disk_gib=OWN_DISK_GIB,
        internode_gbps=gbps,
        cluster="yes" if gbps else "unknown",
        max_nodes=None,
        grade="list",
        notes="",
        source="stated in the configuration",
    )
    return shape, notes


def _usual_host(device: str, gpus: int, catalog: Catalog) -> float | None:
    """Least host memory of the machines on offer with as many of the GPUs, GiB; None where none states it."""
    shapes = (offer.shape for offer in catalog.offers)
    known = [one.host_memory_gib for one in shapes if (one.device, one.gpus) == (device, gpus)]
    return min((gib for gib in known if gib), default=None)
