"""A problem small enough for pencil and paper: two zones, three offers, nine joint columns, round numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlopt.facts import Catalog, Device, Model, Offer, Shape
from rlopt.facts.operations import Operations
from rlopt.pools.pricing import unloaded
from rlopt.problem import Checkpoint, Columns, Market, Mix, Pools, Problem, Seconds, Times, Topology
from rlopt.problem.detail import PoolDetail, StageDetail
from rlopt.problem.tariff import CpuPool, Tariff, Tier, TierTable
from rlopt.request import Request
from rlopt.search.exhaustive import every_column
from rlopt.workloads import Lengths, Role, Stage, Workload
from rlopt.workloads.variants import Variant
from tests.facts.tables import shipped_tables

GB = 1e9
HOUR = 3600.0
MODEL = Model(
    name="one",
    hf_id="",
    params=10e9,
    active_params=10e9,
    layers=1,
    hidden=1,
    heads=1,
    kv_heads=1,
    head_dim=1,
    ffn=1,
    gated=True,
    vocab=1,
)
DEVICE = Device("T", "T", "Hopper", 80.0, 1000.0, {"bf16": 100.0}, None, "none", None, None, "hand", "")
SMALL = Device("U", "U", "Hopper", 40.0, 1000.0, {"bf16": 50.0}, None, "none", None, None, "hand", "")

HOT = Tier("hot", "object", 0.001, 0.0, 0.02, 0.0, 0.5, 0.0, "hand", "2026-11-01")
"""0.001 USD/GB/h, 0.5 GB/s a node, 0.02 USD/GB to read."""
COLD = Tier("cold", "archive", 0.0001, 100.0, 0.03, 2.0, 1.0, 0.0, "hand", "2026-11-01")
"""A tenth of the price, billed for at least 100 h, two hours to restore."""
AWAY = Tier("away", "object", 0.002, 0.0, 0.0, 0.0, 0.5, 0.05, "hand", "2026-11-01")
"""Another provider's store: 0.05 USD/GB to upload."""


def offer(provider: str, region: str, kind: str, device: str, gpus: int, usd: float, pricing: str) -> Offer:
    """One machine at a price."""
    shape = Shape(
        key=f"{provider}/{kind}",
        provider=provider,
        instance_type=kind,
        aliases=(),
        device=device,
        gpus=gpus,
        intra="nvswitch",
        vcpus=8.0,
        host_memory_gib=256.0,
        local_disk_gib=None,
        internode_gbps=400.0,
        cluster="yes",
        max_nodes=None,
        grade="list",
        notes="",
        source="hand",
    )
    return Offer(
        id=f"{provider}/{region}/any/{kind}/{pricing}",
        shape=shape,
        provider=provider,
        region=region,
        zone=None,
        country=None,
        pricing=pricing,
        term_hours=None,
        price_per_hour=usd,
        currency="USD",
        price_low=usd,
        price_high=usd,
        zones=1,
        grade="list",
        confidence="high",
        as_of="2026-11-01",
        source="hand",
        note="",
    )


OFFERS = (
    offer("north", "n1", "two", "T", 2, 10.0, "on_demand"),
    offer("north", "n1", "two", "T", 2, 4.0, "spot"),
    offer("south", "s1", "four", "U", 4, 12.0, "on_demand"),
)
MARKET = Market(
    offers=OFFERS,
    usd_per_hour=np.array([10.0, 4.0, 12.0]),
    zone=np.array([0, 0, 1]),
    topology=np.array([0, 0, 1]),
    gpus=np.array([2, 2, 4]),
    spot=np.array([False, True, False]),
    host_memory_gib=np.full(3, 256.0),
    max_nodes=np.full(3, 4),
    term_hours=np.zeros(3),
    local_disk_gib=np.zeros(3),
    zones=(("north", "n1"), ("south", "s1")),
    topologies=(Topology("T", 2, "nvswitch", 400.0, True), Topology("U", 4, "nvswitch", 400.0, True)),
    left_out={},
    warnings=(),
)


def _cpu(name: str, provider: str, region: str, usd: float) -> CpuPool:
    return CpuPool(name, f"{provider}/cpu", provider, region, "c8", 1, usd, "hand", "2026-11-01")


TARIFFS = (
    Tariff("north", "n1", (HOT, COLD), 0.09, "hand", 0.5, 0.0001, 700.0, "log", "hand", "2026-11-01",
           _cpu("control", "north", "n1", 0.5), (None,), ()),
    Tariff("south", "s1", (AWAY,), 0.12, "hand", 1.0, 0.0, 0.0, "log", "hand", "2026-11-01",
           _cpu("control", "south", "s1", 1.0), (None,), ()),
)  # fmt: skip
OPERATIONS = Operations(10.0, 5.0, 12.0, 10.0, 8.0, 32.0, 0.5, 1.0, 0.1, 8.0, 100.0, 4.0, ())


def pools(*rows: tuple[int, int, int, int, float, float, float]) -> Pools:
    """Pools of one node each: (offer, group size, precision rank, estimate, seconds, confident, stops per hour)."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 7)
    index = table[:, 0].astype(np.int64)
    one = np.ones(len(table), dtype=np.int64)
    return Pools(
        offer=index,
        nodes=one,
        gpus=MARKET.gpus[index],
        zone=MARKET.zone[index],
        usd_per_hour=MARKET.usd_per_hour[index],
        failures_per_hour=table[:, 6],
        spot=MARKET.spot[index],
        group_size=table[:, 1].astype(np.int64),
        update_precision=table[:, 2].astype(np.int64),
        times=Times.same(Seconds(table[:, 4], table[:, 5])),
        estimate=table[:, 3].astype(np.int64),
        **neutral(len(table)),
    )


def neutral(rows: int) -> dict[str, Any]:
    """The fields of `Pools` that a simple pool leaves alone."""
    whole, zero = np.zeros(rows, dtype=np.int64), np.zeros(rows)
    floats = ("environment_usd_per_hour", "term_hours")
    return {
        **dict.fromkeys(("variant", "environment", "precision"), whole),
        **dict.fromkeys((*floats, "disk_gb", "disk_gib", "host_gib"), zero),
        "once": Seconds(zero, zero),
        **unloaded(rows),
        "score_precision": whole + 2,  # bf16, as `Details` says
        "nodes_per_replica": whole + 1,
    }


@dataclass(frozen=True)
class Details:
    """Every pool trains in bf16 (row 0) or fp8 (row 1) and needs 20 of 70 GiB."""

    ends = ()

    def _of(self, roles: tuple[str, ...], precision: str) -> PoolDetail:
        return PoolDetail(
            roles=roles,
            serves=("policy",),
            layout={"tp": 1, "pp": 1, "dp": 2, "offload": "none"},
            precision=precision,
            score_precision="bf16",
            rollout_precision="bf16" if "generate" in roles else None,
            needed_gib=20.0,
            capacity_gib=70.0,
            host_gib=None,
            peak_stage=roles[-1],
            parts={"weights": 15.0, "runtime": 5.0},
            stages=(StageDetail(roles[-1], "policy", 1.0, None),),
            memory_margin=0.1,
        )

    def training_detail(self, row: int) -> PoolDetail:
        return self._of(("update",), ("bf16", "fp8")[row])

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        return self._of(("generate",), "bf16")

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        return self._of(("forward",), "bf16")

    def mixed(self, first: np.ndarray, second: np.ndarray) -> Mix:
        raise NotImplementedError("nothing is mixed by hand")

    mixed_bound = mixed

    def mixed_least(self, estimate: np.ndarray) -> Mix:
        raise NotImplementedError("nothing is mixed by hand")

    def colocated_detail(self, row: int) -> PoolDetail:
        return self._of(("generate", "update"), ("bf16", "fp8")[row])


def request(**parts: Any) -> Request:
    """A GRPO request in canonical units; ``parts`` replaces whole sections."""
    sections: dict[str, Any] = {
        "job": {
            "algorithm": "grpo",
            "models": {"policy": "one"},
            "prompts_per_step": 16,
            "convergence": {8: 36, 16: 18},
            "prompt_tokens": {"mean": 100, "max": 200},
            "response_tokens": {"mean": 400, "max": 900},
            "pass_rate": 0.5,
            "dataset_size": 40 * GB,
            "trials": 2,
        },
        "choices": {"group_size": [8, 16], "mixed_pools": False},
        "floors": {
            "checkpoints": {"keep_recent": 2, "keep_best": 1, "history_every": 18},
            "text_log_rate": 0.5,
            "free_storage": 0.2,
        },
        "costs": {
            "engineer_hour": {"amount": 60.0, "currency": "USD"},
            "setup_hours": {"colocated": 1.0, "disaggregated": 2.0, "async": 3.0},
            "on_call_hours_per_day": 2.0,
            "keep_for": {"checkpoints": 50 * HOUR, "logs": 720 * HOUR, "dataset": 10 * HOUR},
        },
        "limits": {"confidence": 0.9},
    }
    return Request.model_validate({**sections, **parts})


def hand_problem(asked: Request | None = None, **changes: Any) -> Problem:
    """The problem; ``changes`` replaces fields of it."""
    chosen = asked or request()
    lengths = Lengths(100.0, 200.0, 400.0, 900.0, True)
    workload = Workload(
        "grpo",
        (Role("policy", MODEL, True),),
        (Stage("generate", "policy", lengths), Stage("update", "policy", lengths)),
        16,
        (8, 16),
        {8: 36, 16: 18},
    )
    catalog = Catalog(
        offers=OFFERS,
        zone_offers=(),
        shapes={},
        cpu_offers=(),
        devices={"T": DEVICE, "U": SMALL},
        families={},
        models={},
        aliases={},
        missing_models={},
        storage=(),
        traffic=(),
        logs=(),
        caches=(),
        commitments=(),
        reliability=(),
        countries={},
        reference_regions={},
        provenance=(),
        left_out={},
        **shipped_tables(),
    )
    problem = Problem(
        request=chosen,
        catalog=catalog,
        workload=workload,
        models={"policy": MODEL},
        market=MARKET,
        operations=OPERATIONS,
        tariffs=TARIFFS,
        tiers=TierTable.of(TARIFFS),
        checkpoint=Checkpoint(100 * GB, 20 * GB),
        variants=(Variant(workload, cleaned=False),),
        intervals={(0, 8): (6,), (0, 16): (9,)},
        training=pools((0, 8, 2, 0, 60.0, 72.0, 0.1)),
        rollout=pools((1, 8, 2, 0, 30.0, 36.0, 0.2)),
        scoring=pools(),
        colocated=pools(
            (0, 8, 2, 0, 90.0, 108.0, 0.36), (1, 8, 2, 0, 90.0, 108.0, 0.9), (2, 16, 1, 1, 190.0, 228.0, 0.36)
        ),
        estimates=Details(),
        sync_seconds=(10.0, 10.0, 4.0),
        staleness=1,
        exposed_share=0.2,
        candidates=5,
        excluded={},
        warnings=(),
        gpu_limit=64,
    )
    return replace(problem, **changes)


def columns_of(problem: Problem) -> Columns:
    """Every joint column of a problem, in order."""
    return every_column(problem)
