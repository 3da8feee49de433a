"""Random problems with everything on the bill: prices of all services, and requests that use them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from rlopt.problem import Pools, Problem
from rlopt.problem.tariff import CacheStore, Disk, Metering, Tariff, Tier, TierTable
from rlopt.request import Request
from rlopt.request.costs import AutomaticRelease, Idle
from rlopt.request.job.cache import Cache
from rlopt.request.job.data_life import Backup
from rlopt.request.job.data_work import DataWork, Inspect, Versions
from rlopt.request.job.metrics import Metrics, TextLog
from rlopt.request.job.parts import Evaluation
from rlopt.request.job.records import Dashboards, Traces
from rlopt.units import Money
from rlopt.words import LogProbs
from rlopt.workloads.variants import Variant
from tests.costs.rich import ACTING
from tests.oracle.problems import random_problem


def _tier(rng: random.Random, tier: Tier) -> Tier:
    return replace(
        tier,
        put_usd=rng.choice([0.0, 1e-4, 0.01]),
        get_usd=rng.choice([0.0, 1e-5, 0.005]),
        download_per_gb=rng.choice([0.0, 0.0, 0.09]),
    )


def _metering(rng: random.Random) -> Metering | None:
    series, size = rng.choice([(0.0, 3.0), (0.001, 0.0), (0.001, 0.5)])
    found = Metering("m", series, size, rng.choice([0.0, 0.01]), rng.choice([0.0, 40.0, 721.0]), 100.0, 0.05, "r", "")
    return rng.choice([None, found, found])


def _tariff(rng: random.Random, tariff: Tariff) -> Tariff:
    return replace(
        tariff,
        tiers=tuple(_tier(rng, tier) for tier in tariff.tiers),
        disk=rng.choice([None, Disk("d", rng.uniform(1e-5, 1e-3), "r", "")]),
        control=tariff.control and replace(tariff.control, boot_gb=rng.choice([0.0, 30.0])),
        environments=tuple(pool and replace(pool, boot_gb=rng.choice([0.0, 900.0])) for pool in tariff.environments),
        cache=CacheStore("c", 8.0, rng.uniform(0.01, 1.0), "r", "") if rng.random() < 0.7 else None,
        metering=_metering(rng),
        log_egress_per_gb=rng.choice([0.0, 0.1]),
        log_free_hours=rng.choice([0.0, 721.0, 2000.0]),
        data_per_gb=rng.choice([0.0, 0.05]),
        data_note="from afar",
    )


def _request(rng: random.Random, request: Request) -> Request:
    data = DataWork(
        new_samples=rng.choice([0, 200]),
        label_price=rng.choice([None, Money(0.1, "USD")]),
        clean_price=rng.choice([None, Money(0.02, "USD")]),
        collect_price=rng.choice([None, Money(0.3, "USD")]),
        accepted_share=rng.choice([1.0, 0.7]),
        inspect=rng.choice([None, Inspect(share=0.1, price=Money(0.2, "USD"))]),
        tools=rng.choice([None, Money(100.0, "USD")]),
        compression_ratio=rng.choice([1.0, 0.3]),
        duplicate_share=rng.choice([0.0, 0.2]),
        shared_by=rng.choice([1, 3]),
        versions=rng.choice([None, Versions(count=4, changed_share=0.5, copies="delta", raw_kept=True)]),
    )
    mode: Any = {0: "none", 1: "full", 2: "incremental", 3: "versioning"}[data.shared_by - 1 + (data.tools is None)]
    backup = Backup(mode=mode, every=3600.0, copies=3, changed_share=0.2)
    kept = {"incremental": True, "versions_kept": 2} if data.new_samples and request.job.dataset_samples else {}
    data = data.model_copy(update={"backup": backup, **kept})
    log = TextLog(abnormal_share=rng.choice([0.0, 0.1]), debug_steps=rng.choice([0, 5, 10**6]), debug_rate=0.5)
    metrics = Metrics(
        histograms=rng.choice([0, 3]),
        hardware_every=rng.choice([1.0, 60.0]),
        thin_after=0.5,
        thin_to=0.1,
        traces=Traces(spans_per_step=rng.choice([0, 10**6]), sample_rate=0.1),
    )
    views = Dashboards(panels=rng.choice([0, 4]), users=2, price=Money(3.0, "USD"))
    built = Evaluation(every=10, samples=10, build_price=Money(50.0, "USD"))
    automatic = rng.choice([None, AutomaticRelease(within=60.0, setup_hours=rng.choice([0.0, 0.02, 5.0]))])
    idle = Idle(before_release=rng.choice([None, 7200.0]), automatic=automatic, volumes=rng.choice([0.0, 86400.0]))
    for key, value in (
        ("job.data", data),
        ("job.text_log", log),
        ("job.metrics", metrics),
        ("job.cache", Cache(replay=8e9, peak_ops=10.0)),
        ("job.dataset_size", rng.choice([None, 2e11])),
        ("job.evaluation", rng.choice([None, built])),
        ("costs.idle", idle),
        ("costs.dashboards", rng.choice([None, views])),
    ):
        request = request.replaced(key, value)
    return request


def _disks(rng: random.Random, pools: Pools) -> Pools:
    return replace(pools, disk_gb=np.array([rng.choice([0.0, 500.0]) for _ in range(len(pools))]))


def random_bill(seed: int, mixes: bool = False) -> Problem:
    """One problem, the same for the same seed: that of the oracle with the rest of the bill."""
    problem, rng = random_problem(seed, mixes=mixes), random.Random(seed + 7)
    tariffs = tuple(_tariff(rng, tariff) for tariff in problem.tariffs)
    acting = rng.random() < 0.5
    stored = rng.random() < 0.5

    def rich(number: int, variant: Variant) -> Variant:
        workload = replace(variant.workload, acting=ACTING) if acting else variant.workload
        kept = {size: 1e9 * size * (number + 1) for size in variant.steps} if stored and number == 0 else None
        how = LogProbs.RECOMPUTE if kept is None else LogProbs.STORED
        return replace(variant, workload=workload, stored_bytes=kept, log_probs=how)

    fields: dict[str, Any] = {
        name: _disks(rng, getattr(problem, name)) for name in ("training", "rollout", "scoring", "colocated")
    }
    return replace(
        problem,
        request=_request(rng, problem.request),
        workload=replace(problem.workload, acting=ACTING) if acting else problem.workload,
        variants=tuple(rich(number, variant) for number, variant in enumerate(problem.variants)),
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        **fields,
    )
