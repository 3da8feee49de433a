"""The hand problem with everything that can stand on a bill: requests, metrics, caches, disks, data, idle machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rlopt.problem import Pools, Problem
from rlopt.problem.tariff import CacheStore, Disk, Metering, TierTable
from rlopt.request import Request
from rlopt.workloads.acting import Acting
from rlopt.workloads.variants import Variant
from tests.costs.hand import AWAY, COLD, GB, HOT, HOUR, TARIFFS, hand_problem, request

DISK = Disk("disk", 0.0002, "hand", "2026-11-01")
STORE = CacheStore("store", 50.0, 0.4, "hand", "2026-11-01")
BY_SERIES = Metering("series", 0.0005, 0.0, 0.0, 0.0, 8.0, 0.0, "hand", "2026-11-01")
BY_SIZE = Metering("size", 0.0, 2.0, 0.001, 700.0, 100.0, 0.12, "hand", "2026-11-01")
RICH_TARIFFS = (
    replace(
        TARIFFS[0],
        tiers=(replace(HOT, put_usd=1e-3, get_usd=2e-4), replace(COLD, put_usd=5e-3, get_usd=1e-3)),
        disk=DISK,
        cache=STORE,
        metering=BY_SERIES,
        data_per_gb=0.02,
        data_note="from north n2 to another region",
    ),
    replace(
        TARIFFS[1],
        tiers=(replace(AWAY, put_usd=4e-3, get_usd=3e-4, download_per_gb=0.07),),
        cache=replace(STORE, name="dear", usd_per_hour=0.9),
        metering=BY_SIZE,
        log_egress_per_gb=0.12,
        data_per_gb=0.08,
        data_note="out of north n2 over the internet",
    ),
)
ACTING = Acting(
    observation_tokens=100.0,
    observation_tokens_max=200.0,
    images=2,
    patches_per_image=4,
    head="flow",
    passes=5,
    tokens_per_pass=10,
    chunk=10,
    inferences_mean=20.0,
    inferences_max=40.0,
    frames=50.0,
    stored_frames=30.0,
    frame_bytes=3e6,
    steps_per_second=10.0,
    kind="simulator",
    runs_on="cpu",
    vcpus=1.0,
    memory_bytes=0.0,
)
"""50 frames a trajectory, 30 of them stored; a frame of a million pixels, so 100 kB as it is encoded by hand."""


def rich_request(**job: Any) -> Request:
    """The hand request with every key of the bill; ``job`` replaces parts of the job."""
    plain = request()
    written: dict[str, Any] = plain.job.model_dump(by_alias=True) | {
        "dataset_samples": 5000,
        "metrics": {
            "scalars": 10,
            "histograms": 2,
            "intermediates": 3,
            "every": 2,
            "thin_after": 0.5,
            "thin_to": 0.5,
            "hardware": 2,
            "hardware_every": 60.0,
        },
        "text_log": {"abnormal_share": 0.2, "anomalies": 0.5, "debug_steps": 6, "debug_rate": 0.8},
        "cache": {"replay": 30 * GB, "index": 4 * GB, "peak_ops": 1000.0},
        "data": {
            "new_samples": 1000,
            "label_price": {"amount": 0.05, "currency": "USD"},
            "clean_price": {"amount": 0.01, "currency": "USD"},
            "compression_ratio": 0.5,
            "duplicate_share": 0.2,
            "versions": {"count": 3, "changed_share": 0.25, "copies": "delta", "raw_kept": True},
            "shared_by": 2,
        },
    }
    costs = plain.costs.model_dump(by_alias=True)
    costs["keep_for"]["full_text"] = 20 * HOUR
    costs["idle"] = {
        "before_release": 0.5 * HOUR,
        "automatic": {"within": 0.1 * HOUR, "setup_hours": 0.05},
        "volumes": 12 * HOUR,
    }
    return request(job=written | job, costs=costs)


def with_disks(pools: Pools, gb: float) -> Pools:
    """The pools with ``gb`` of rented disks each."""
    return replace(pools, disk_gb=np.full(len(pools), gb))


def rich_problem(asked: Request | None = None, acting: bool = False, **changes: Any) -> Problem:
    """The problem; with ``acting`` its samples are trajectories. The data may be cleaned: ten steps are saved."""
    problem = hand_problem(asked or rich_request())
    workload = replace(problem.workload, acting=ACTING) if acting else problem.workload
    fewer = replace(workload, steps={8: 26, 16: 9})
    stored = {8: 3 * GB, 16: 6 * GB}
    variants = (
        Variant(workload, cleaned=False, log_probs="stored", stored_bytes=stored),
        Variant(fewer, cleaned=True, log_probs="recompute"),
    )
    both = problem.colocated.take(np.tile(np.arange(len(problem.colocated)), 2))
    both = replace(both, variant=np.repeat([0, 1], len(problem.colocated)))
    fields: dict[str, Any] = {
        "workload": workload,
        "variants": variants,
        "tariffs": RICH_TARIFFS,
        "tiers": TierTable.of(RICH_TARIFFS),
        "colocated": with_disks(both, 80.0),
        "intervals": {(0, 8): (6,), (0, 16): (9,), (1, 8): (13,), (1, 16): (9,)},
    }
    return replace(problem, **{**fields, **changes})
