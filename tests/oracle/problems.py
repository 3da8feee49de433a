"""Random small problems: synthetic market, pools and prices under a real request, so that every rule can bind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from rlopt.facts import Offer, Shape
from rlopt.facts.files.folder import load_catalog
from rlopt.pools.pricing import unloaded
from rlopt.problem import Checkpoint, Market, Mix, Pools, Problem, Seconds, Times, Topology
from rlopt.problem.detail import PoolDetail, StageDetail
from rlopt.problem.tariff import CpuPool, Tariff, Tier, TierTable
from rlopt.reading.model_facts import resolve_models
from rlopt.reading.request_file import read_request
from rlopt.table import each, merged
from rlopt.workloads import build_workload
from rlopt.workloads.variants import Variant

DEVICES = ("H100-SXM", "A100-80GB", "L4")
PRECISIONS = ("bf16", "fp8", "fp32")
RANK = {"fp8": 1, "bf16": 2, "fp32": 3}
TAIL = 0.2
"""Part of its time alone that an offer of a mix takes whatever its share: its longest response."""
PARTS = {
    "weights": 10.0,
    "gradients": 5.0,
    "optimizer": 5.0,
    "activations": 5.0,
    "logits": 1.0,
    "kv_cache": 0.0,
    "buffers": 1.0,
    "runtime": 2.0,
}


@dataclass(frozen=True)
class StubEstimates:
    """Details that fit, so that the audit has something to read."""

    precision: dict[int, str]
    rollouts: Pools
    ends = ()

    def _detail(self, roles: tuple[str, ...], precision: str) -> PoolDetail:
        return PoolDetail(
            roles=roles,
            serves=("policy",),
            layout={"tp": 1, "pp": 1, "dp": 1, "offload": "none"},
            precision=precision,
            score_precision="bf16",
            rollout_precision="bf16" if "generate" in roles else None,
            needed_gib=sum(PARTS.values()),
            capacity_gib=70.0,
            host_gib=None,
            peak_stage="update",
            parts=PARTS,
            stages=(StageDetail(roles[0], "policy", 0.1, None),),
            memory_margin=0.1,
        )

    def training_detail(self, row: int) -> PoolDetail:
        return self._detail(("update",), self.precision[row])

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        return self._detail(("generate",), "bf16")

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        return self._detail(("forward",), "bf16")

    def mixed(self, first: np.ndarray, second: np.ndarray) -> Mix:
        return self._mixed(first, second, 1.0 + 0.02 * ((first * 7 + second * 3) % 5))

    def mixed_bound(self, first: np.ndarray, second: np.ndarray) -> Mix:
        return self._mixed(first, second, np.ones(len(first)))

    def mixed_least(self, estimate: np.ndarray) -> Mix:
        none = np.zeros(len(estimate))
        return Mix(none, none, each(self.rollouts.take(estimate).times, lambda seconds: TAIL * seconds))

    def _mixed(self, first: np.ndarray, second: np.ndarray, slower: np.ndarray) -> Mix:
        """A mix as quick as its parts and their longest responses allow, or a little slower, as whole replicas are."""
        a, b = self.rollouts.take(first).times, self.rollouts.take(second).times

        def together(parts: Sequence[np.ndarray]) -> np.ndarray:
            one, other = parts
            return slower * np.maximum(1.0 / (1.0 / one + 1.0 / other), TAIL * np.maximum(one, other))

        ways = ((a.in_step.median, b.in_step.median), (a.asynchronous.median, b.asynchronous.median))
        return Mix(
            *[y / (x + y) for x, y in ways], merged([replace(a, growth=None), replace(b, growth=None)], together)
        )

    def colocated_detail(self, row: int) -> PoolDetail:
        return self._detail(("generate", "update"), self.precision[row])


def _request(rng: random.Random) -> Any:
    sizes = sorted(rng.sample([4, 8, 16], rng.randint(1, 3)))
    limits: dict[str, Any] = {"confidence": rng.choice([0.8, 0.9])}
    floors: dict[str, Any] = {
        "checkpoints": {
            "keep_recent": rng.randint(1, 3),
            "keep_best": rng.randint(0, 2),
            "history_every": rng.choice([4, 6, 10]),
        }
    }
    if rng.random() < 0.4:
        limits["deadline"] = f"{rng.uniform(1.2, 12):.3f}h"
    if rng.random() < 0.4:
        limits["budget"] = f"{rng.uniform(40, 400):.2f} USD"
    if rng.random() < 0.65:
        limits["hourly_budget"] = f"{rng.uniform(2.5, 25):.2f} USD"
    if rng.random() < 0.6:
        limits["max_gpus"] = rng.randint(1, 14)
    if rng.random() < 0.5:
        quotas = []
        for _ in range(rng.randint(1, 3)):
            row: dict[str, Any] = {"max_gpus": rng.choice([0, 1, 2, 4])}
            if rng.random() < 0.7:
                row["provider"] = rng.choice(["p0", "p1", "p2"])
            if rng.random() < 0.6:
                row["gpu"] = rng.choice(["H100", "A100-80GB", "L4"])
            if rng.random() < 0.4:
                row["pricing"] = rng.choice(["on_demand", "spot"])
            quotas.append(row)
        limits["quotas"] = quotas
    for key, chance, value in (
        ("group_size", 0.4, rng.choice([8, 16])),
        ("samples_per_update", 0.5, rng.choice([100, 128, 200])),
        ("informative_groups", 0.4, rng.choice([0.7, 0.8, 0.95])),
        ("on_demand_share", 0.4, rng.choice([0.3, 0.5, 1.0])),
        ("update_precision", 0.5, rng.choice(["bf16", "bf16", "fp32"])),
        ("max_staleness", 0.7, 0),
        ("free_storage", 0.4, 0.2),
        ("text_log_rate", 0.5, 0.1),
    ):
        if rng.random() < chance:
            floors[key] = value
    if rng.random() < 0.4:
        floors["checkpoints"]["recovery_time"] = f"{rng.uniform(0.3, 12):.2f}min"
    return read_request(
        {
            "version": 1,
            "objective": "cost",
            "job": {
                "name": "random",
                "algorithm": "grpo",
                "models": {"policy": "Qwen/Qwen2.5-0.5B", "reward": "rule"},
                "prompts_per_step": 16,
                "steps": rng.choice([20, 37, 60]),
                "pass_rate": 0.3,
                "prompt_tokens": {"mean": 100, "max": 200},
                "response_tokens": {"mean": 300, "max": 900},
                "trials": rng.choice([1, 1, 2]),
            },
            "choices": {
                "group_size": sizes,
                "precision": {"rollout": ["bf16"], "score": ["bf16"], "update": list(PRECISIONS)},
                **(
                    {"placements": rng.sample(["colocated", "disaggregated", "async"], rng.randint(1, 2))}
                    if rng.random() < 0.3
                    else {}
                ),
            },
            "limits": limits,
            "floors": floors,
            "costs": {"engineer_hour": "50 USD", "setup_hours": {"colocated": 1, "disaggregated": 1, "async": 1}},
        }
    )


def _market(rng: random.Random) -> Market:
    zones = tuple((f"p{n}", f"r{n}") for n in range(rng.randint(1, 3)))
    offers, zone_of, topologies = [], [], {}
    topology_of = []
    for zone, (provider, region) in enumerate(zones):
        for number in range(rng.randint(1, 3)):
            device, gpus = rng.choice(DEVICES), rng.choice([1, 2, 4])
            shape = Shape(
                key=f"{provider}/m{number}",
                provider=provider,
                instance_type=f"m{number}",
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
                source="random",
            )
            price = gpus * rng.uniform(0.5, 6.0)
            for pricing, factor in (("on_demand", 1.0), ("spot", rng.uniform(0.3, 0.9))):
                if pricing == "spot" and rng.random() < 0.4:
                    continue
                offers.append(
                    Offer(
                        id=f"{provider}/{region}/any/m{number}/{pricing}",
                        shape=shape,
                        provider=provider,
                        region=region,
                        zone=None,
                        country=None,
                        pricing=pricing,
                        term_hours=None,
                        price_per_hour=price * factor,
                        currency="USD",
                        price_low=price * factor,
                        price_high=price * factor,
                        zones=1,
                        grade="list",
                        confidence="high",
                        as_of="2026-11-01",
                        source="random",
                        note="",
                    )
                )
                zone_of.append(zone)
                key = Topology(device, gpus, "nvswitch", 400.0, True)
                topology_of.append(topologies.setdefault(key, len(topologies)))
    return Market(
        offers=tuple(offers),
        usd_per_hour=np.array([o.price_per_hour for o in offers]),
        zone=np.array(zone_of),
        topology=np.array(topology_of),
        gpus=np.array([o.shape.gpus for o in offers]),
        spot=np.array([o.pricing == "spot" for o in offers]),
        host_memory_gib=np.full(len(offers), 256.0),
        max_nodes=np.full(len(offers), 4),
        term_hours=np.array([o.term_hours or 0.0 for o in offers]),
        local_disk_gib=np.zeros(len(offers)),
        zones=zones,
        topologies=tuple(topologies),
        left_out={},
        warnings=(),
    )


def _tariff(rng: random.Random, provider: str, region: str) -> Tariff:
    tiers = tuple(
        Tier(
            name=f"{provider}/t{n}",
            kind=rng.choice(["object", "object", "block", "archive"]),
            usd_gb_hour=rng.uniform(1e-5, 3e-4),
            min_hours=rng.choice([0.0, 0.0, 720.0]),
            retrieval_per_gb=rng.choice([0.0, 0.02]),
            restore_hours=rng.choice([0.0, 0.0, 0.3]),
            gb_s_per_node=rng.uniform(0.01, 1.0),
            upload_per_gb=rng.choice([0.0, 0.0, 0.05]),
            source="random",
            as_of="2026-11-01",
        )
        for n in range(rng.randint(1, 3))
    )
    cpu = CpuPool("control", "cpu", provider, region, "c1", 1, rng.uniform(0.05, 0.5), "random", "2026-11-01")
    return Tariff(
        provider, region, tiers, 0.09, "random", 0.5, 1e-5, 0.0, "log", "random", "2026-11-01", cpu, (None,), ()
    )


def _pools(
    rng: random.Random,
    market: Market,
    sizes: tuple[int, ...],
    precisions: tuple[str, ...],
    mean_seconds: float,
    first: int,
    variants: tuple[int, ...] = (0,),
    once: float = 0.0,
) -> tuple[Pools, dict[int, str]]:
    rows, names = [], {}
    for variant, size in product(variants, sizes):
        for offer in range(len(market.offers)):
            for nodes in rng.sample([1, 2, 3, 4], rng.randint(1, 2)):
                precision = rng.choice(precisions)
                seconds = mean_seconds * size / nodes * rng.lognormvariate(0, 0.6)
                steady = seconds * rng.uniform(0.5, 1.0)
                band = rng.choice([1.2, 1.35, 1.6])
                names[first + len(rows)] = precision
                rows.append(
                    (offer, nodes, size, RANK[precision], seconds, seconds * band, steady, steady * band, variant)
                )
    table = np.array(rows)
    offer, nodes = table[:, 0].astype(int), table[:, 1].astype(int)
    rates = np.where(market.spot[offer], rng.choice([0.002, 0.02]), 0.0005)
    return Pools(
        offer=offer,
        nodes=nodes,
        gpus=nodes * market.gpus[offer],
        zone=market.zone[offer],
        usd_per_hour=nodes * market.usd_per_hour[offer],
        failures_per_hour=nodes * rates,
        spot=market.spot[offer],
        group_size=table[:, 2].astype(int),
        update_precision=table[:, 3].astype(int),
        times=Times(Seconds(table[:, 4], table[:, 5]), Seconds(table[:, 6], table[:, 7])),
        estimate=np.arange(first, first + len(rows)),
        variant=table[:, 8].astype(int),
        environment=np.zeros(len(rows), dtype=int),
        environment_usd_per_hour=np.zeros(len(rows)),
        precision=np.zeros(len(rows), dtype=int),
        once=Seconds(np.full(len(rows), once), np.full(len(rows), once * 1.2)),
        term_hours=market.term_hours[offer],
        disk_gb=nodes * rng.choice([0.0, 100.0]),
        disk_gib=np.full(len(rows), 100.0),
        host_gib=np.full(len(rows), 64.0),
        score_precision=np.full(len(rows), RANK["bf16"]),
        nodes_per_replica=np.ones(len(rows), dtype=int),
        **unloaded(len(rows)),
    ), names


def _variants(rng: random.Random, request: Any, workload: Any) -> tuple[Variant, ...]:
    """One way to run the job, or a second that needs other steps, or one whose reward model stands apart."""
    plain = Variant(workload, cleaned=False)
    fewer = replace(workload, steps={size: max(2, steps * 3 // 4) for size, steps in workload.steps.items()})
    return rng.choice(
        [
            (plain,),
            (plain, Variant(fewer, cleaned=True)),
            (plain, Variant(workload, cleaned=False, scoring="own", own=("reward",))),
        ]
    )


def random_problem(seed: int, objective: str = "cost", mixes: bool = False) -> Problem:
    """One problem, the same for the same seed. ``mixes``: pools may be of two offers."""
    rng = random.Random(seed)
    request, catalog = _request(rng).replaced("objective", objective), load_catalog()
    request = request.replaced("choices.mixed_pools", mixes)
    if mixes:  # where mixing can pay: sampling apart, a share of it kept, a limit that the cheap machines alone miss
        request = request.replaced("choices.placements", ("disaggregated", "async"))
        request = request.replaced("limits.hourly_budget", None).replaced("limits.quotas", request.limits.quotas[:1])
        request = request.replaced("floors.on_demand_share", rng.choice([None, 0.3, 0.5]))
    models = resolve_models(request, catalog)
    workload = build_workload(request, models)
    market = _market(rng)
    tariffs = tuple(_tariff(rng, *zone) for zone in market.zones)
    training, names = _pools(rng, market, workload.group_sizes, PRECISIONS, 40.0, 0)
    colocated, more = _pools(rng, market, workload.group_sizes, PRECISIONS, 90.0, 10_000)
    rollout, _ = _pools(rng, market, workload.group_sizes, ("bf16",), 160.0 if mixes else 40.0, 0)
    checkpoint = Checkpoint(rng.uniform(1e9, 4e11), rng.uniform(1e9, 5e10))
    variants = _variants(rng, request, workload)
    scoring = rollout.take(slice(0))
    if len(variants) > 1:
        training, names = _pools(rng, market, workload.group_sizes, PRECISIONS, 40.0, 0, (0, 1), rng.choice([0, 900]))
        shared = tuple(n for n, variant in enumerate(variants) if not variant.own)
        colocated, more = _pools(rng, market, workload.group_sizes, PRECISIONS, 90.0, 10_000, shared)
        if variants[1].own:
            scoring, _ = _pools(rng, market, workload.group_sizes, ("bf16",), 10.0, 0, (1,))
    every = request.floors.checkpoints.history_every or 1
    grid = {
        (number, size): tuple(d for d in range(1, every + 1) if every % d == 0 and d <= steps) or (steps,)
        for number, variant in enumerate(variants)
        for size, steps in variant.steps.items()
    }
    return Problem(
        request=request,
        catalog=catalog,
        workload=workload,
        variants=variants,
        models=models,
        market=market,
        operations=load_catalog().operations,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        checkpoint=checkpoint,
        intervals=grid,
        training=training,
        rollout=rollout,
        scoring=scoring,
        colocated=colocated,
        estimates=StubEstimates(names | more, rollout),
        sync_seconds=(10.0, 4.0, 4.0),
        staleness=1,
        exposed_share=0.11,
        candidates=len(training) + len(rollout) + len(colocated),
        excluded={},
        warnings=(),
        gpu_limit=64,
    )
