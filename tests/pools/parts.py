"""Contexts of one machine kind, so that tests may ask for seconds and memory of a job without any offer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rlopt import api
from rlopt.facts import Catalog, Model
from rlopt.pools.context import Context, make_context
from rlopt.pools.sampling.engine import Engine
from rlopt.problem import Market, Topology
from rlopt.workloads import build_workload
from tests.workloads import asked

MOE = Model(
    "moe", "", 8.0e9, 2.0e9, 16, 2048, 16, 8, 128, 0, True, 32000,
    experts=32, active_experts=4, expert_ffn=1536, attention_layers=16.0,
)  # fmt: skip


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    return api.catalog()


def market(device: str, gpus_per_node: int, nodes: int, cluster: bool = True) -> Market:
    """As many nodes of one kind as said, at no price."""
    one, zero = np.zeros(1, dtype=np.int64), np.zeros(1)
    return Market(
        offers=(),
        usd_per_hour=zero,
        zone=one,
        topology=one,
        gpus=np.array([gpus_per_node]),
        spot=np.zeros(1, dtype=bool),
        host_memory_gib=zero,
        max_nodes=np.array([nodes]),
        term_hours=zero,
        local_disk_gib=zero,
        zones=(),
        topologies=(Topology(device, gpus_per_node, "nvswitch", 400.0, cluster),),
        left_out={},
        warnings=(),
    )


def context(
    algorithm: str,
    job: dict[str, Any] | None = None,
    models: Mapping[str, Model] | None = None,
    device: str = "H100-SXM",
    gpus_per_node: int = 8,
    nodes: int = 1,
    cluster: bool = True,
    **sections: Any,
) -> Context:
    """What the candidates of a job are estimated with."""
    request = asked.request(algorithm, job, **sections)
    workload = build_workload(request, models or asked.models(algorithm))
    here = market(device, gpus_per_node, nodes, cluster)
    return make_context(request, catalog(), workload, here, gpus_per_node * nodes)


def engine(
    found: Context, tp: int = 1, gpus: int = 8, precision: str = "bf16", resident: float = 0.0, colocated: bool = False
) -> Engine:
    """One engine on the context's machines."""
    hardware, one = found.hardware.take(np.zeros(1, dtype=np.int64)), np.ones(1, dtype=np.int64)
    return Engine(hardware, tp * one, one, gpus * one, precision, resident, colocated)
