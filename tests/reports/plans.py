"""Plans made by hand, with numbers that a person can add up."""

from __future__ import annotations

from typing import Any

from rlopt.answers.plan import Frontier, Plan

SOLVER: dict[str, Any] = {
    "backend": "pulp",
    "engine": "HiGHS 1.16.0",
    "objective_usd": 612.4,
    "bound_usd": 612.4,
    "gap": 0.0,
    "seconds": 0.412,
    "columns": 814,
    "candidates": 12345,
    "excluded": {"needs more memory than there is": 9000, "another one is no slower and no dearer": 2531},
    "rows": 57,
    "root_gap": 0.003,
}
PROVENANCE: dict[str, Any] = {
    "catalogs": [{"name": "offers", "as_of": "2026-09-20"}, {"name": "storage", "as_of": ""}],
    "prices": [
        {
            "offer": "lambda/us-east-1/any/gpu_8x_h100_sxm5/on_demand",
            "usd_per_hour": 31.92,
            "source": "lambda price list",
            "as_of": "2026-09-20",
        },
        {
            "offer": "gcp/us-central1/any/g2-standard-4/spot",
            "usd_per_hour": 0.28,
            "source": "gcp price list",
            "as_of": "",
            "low": 0.25,
            "high": 0.31,
        },
        {
            "offer": "aws/us-east-1/s3-standard",
            "usd_per_hour": None,
            "usd": 0.023,
            "unit": "USD/GB/month",
            "source": "s3 price list",
            "as_of": "2026-08-01",
        },
    ],
    "calibration": "fitted to 212 published steps",
    "error_band": {"time": 0.2, "memory": 0.08},
}
COST: dict[str, Any] = {
    "total_usd": 612.4,
    "lines": [
        {
            "dimension": "compute",
            "item": "pool main",
            "kind": "elastic",
            "usd": 510.72,
            "basis": "16.0 h × $31.92/h × 1 trial",
        },
        {
            "dimension": "storage",
            "item": "checkpoints",
            "kind": "elastic",
            "usd": 21.08,
            "basis": "916.5 GB × $0.023/GB/month × 1 month",
        },
        {
            "dimension": "network",
            "item": "weights to the reader",
            "kind": "hidden",
            "usd": 0.0,
            "basis": "same region: free",
        },
        {
            "dimension": "operations",
            "item": "set-up",
            "kind": "fixed",
            "usd": 45.0,
            "basis": "0.5 h × $90/h",
        },
        {
            "dimension": "operations",
            "item": "failures",
            "kind": "hidden",
            "usd": 35.6,
            "basis": "1.115 h × $31.92/h",
        },
    ],
}
TIME: dict[str, Any] = {
    "expected_hours": 17.12,
    "confidence": 0.9,
    "confident_hours": 20.3,
    "deadline_hours": 24.0,
    "step_seconds": 96.0,
    "steps": 600,
    "stages": [
        {
            "stage": "generate",
            "pool": "main",
            "seconds": 61.2,
            "utilization": 0.64,
            "model": "policy",
            "limited_by": "memory bandwidth",
        },
        {"stage": "forward", "pool": "main", "seconds": 9.8, "utilization": 0.9, "model": "reference"},
        {"stage": "update", "pool": "main", "seconds": 25.0, "utilization": 0.93, "model": "policy"},
    ],
    "failure_free_hours": 16.0,
    "startup_hours": 0.4,
}
USAGE: dict[str, Any] = {
    "prompt_tokens": 122.9e6,
    "response_tokens": 1.2288e9,
    "seconds_per_1000_tokens": 0.0299,
    "training_tokens": {"policy": 1.35e9},
    "handover_gb_per_step": 15.23,
    "handover_gb": 9138.0,
    "gradient_gb_per_node": 106.6,
    "gradient_gb_leaving_node": 0.0,
    "storage_growth_gb_per_day": {"history copies": 106.3, "text log": 0.07, "metrics": 0.001},
    "pools": [
        {
            "pool": "main",
            "busy_seconds": 96.0,
            "busy": 1.0,
            "stage": "generate",
            "model": "policy",
            "limited_by": "memory bandwidth",
        }
    ],
    "useful_pflop_days": 1.021,
    "compute_usd_per_pflop_day": 500.2,
    "usd_per_pflop_day": 599.8,
    "usd_per_million_training_tokens": 0.4536,
}
DECISIONS: dict[str, Any] = {
    "placement": "colocated",
    "group_size": 8,
    "precision": {"rollout": "bf16", "score": "bf16", "update": "bf16"},
    "staleness": 0,
    "checkpoint": {
        "interval_steps": 25,
        "tiers": [
            {"tier": "s3-standard", "copies": 3, "gib": 318.0, "usd": 17.5, "roles": ["recent"]},
            {"tier": "s3-glacier", "copies": 1, "gib": 14.2, "usd": 3.58, "roles": ["best", "history"]},
        ],
        "recovery_minutes": 9.5,
    },
    "logging": {"text_log_rate": 0.01},
    "data": {"cleaned": True, "extra_epochs": 0},
}
MAIN_POOL: dict[str, Any] = {
    "name": "main",
    "roles": ["generate", "forward", "update"],
    "serves": ["policy", "reference"],
    "provider": "lambda",
    "region": "us-east-1",
    "zone": None,
    "instance_type": "gpu_8x_h100_sxm5",
    "gpu": "H100-SXM",
    "gpus_per_node": 8,
    "nodes": 1,
    "gpus": 8,
    "pricing": "on_demand",
    "usd_per_hour": 31.92,
    "layout": {
        "tp": 2,
        "pp": 1,
        "dp": 4,
        "cp": 1,
        "sharding": "zero3",
        "micro_batch": 4,
        "recompute": "selective",
        "offload": "optimizer",
        "rollout_tp": 1,
    },
    "precision": "bf16",
    "memory": {
        "needed_gib": 61.25,
        "capacity_gib": 72.8,
        "host_gib": 412.0,
        "host_capacity_gib": 1800.0,
        "stage": "update",
        "parts": {
            "weights": 14.2,
            "gradients": 14.2,
            "optimizer": 0.0,
            "activations": 21.6,
            "logits": 6.25,
            "kv_cache": 0.0,
            "buffers": 3.0,
            "runtime": 2.0,
        },
    },
    "offer": "lambda/us-east-1/any/gpu_8x_h100_sxm5/on_demand",
    "disk_gib": 131.0,
}
CPU_POOL: dict[str, Any] = {
    "name": "tools",
    "roles": ["environment"],
    "serves": [],
    "provider": "gcp",
    "region": None,
    "zone": None,
    "instance_type": "c3-standard-44",
    "gpu": None,
    "gpus_per_node": 0,
    "nodes": 2,
    "gpus": 0,
    "pricing": "spot",
    "usd_per_hour": 1.1,
    "layout": None,
    "precision": None,
    "memory": None,
    "offer": "gcp/any/any/c3-standard-44/spot",
}


def _plan(**changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "status": "optimal",
        "solver": SOLVER,
        "cost": COST,
        "time": TIME,
        "decisions": DECISIONS,
        "pools": [MAIN_POOL, CPU_POOL],
        "storage_gib": 1020.0,
        "tags": {"project": "math", "owner": "ops@example.org"},
        "binding": [
            {
                "constraint": "floors.group_size",
                "value": 8,
                "limit": 8,
                "unit": "sample",
                "usd_per_unit": None,
            },
            {"constraint": "limits.deadline", "value": 23.9, "limit": 24.0, "unit": "h", "usd_per_unit": 4.2},
        ],
        "relaxations": [],
        "warnings": ["people are not on the bill: costs.engineer_hour is not set [see docs]"],
        "provenance": PROVENANCE,
        "frontier": [
            {"confident_hours": 0.7, "total_usd": 1490.0, "summary": "8 × 8 H100-SXM lambda on demand"},
            {"confident_hours": 20.3, "total_usd": 612.4, "summary": "1 × 8 H100-SXM lambda on demand"},
            {"confident_hours": 76.0, "total_usd": 544.1, "summary": "1 × 8 A100-SXM-80GB lambda on demand"},
        ],
        "job": "math-7b",
        "usage": USAGE,
        "reasons": ["pilot run, nobody reads the logs"],
    }
    return Plan.model_validate(fields | changes)


def optimal() -> Plan:
    """Proven, two pools, every section filled."""
    return _plan()


def feasible() -> Plan:
    """Stopped by the time limit, in CNY, nothing binds."""
    return _plan(
        status="feasible",
        solver=SOLVER | {"bound_usd": 580.0, "gap": (612.4 - 580.0) / 612.4},
        binding=[],
        frontier=[],
        warnings=[],
        reasons=[],
        currency="CNY",
        exchange_rates={"CNY": 0.14},
    )


def infeasible() -> Plan:
    """Two single changes help, and one pair together."""
    deadline = {
        "constraint": "limits.deadline",
        "from": 2.5,
        "to": 4.25,
        "unit": "h",
        "total_usd": 812.4,
        "hours": 4.2,
    }
    gpus = {
        "constraint": "choices.gpus",
        "from": ["A100-80GB"],
        "to": ["A100-80GB", "H100"],
        "unit": "",
        "total_usd": 701.0,
        "hours": 2.4,
    }
    nodes = {
        "constraint": "limits.max_gpus",
        "from": 64,
        "to": 72,
        "unit": "GPU",
        "total_usd": 650.5,
        "hours": 3.1,
    }
    return _plan(
        status="infeasible",
        solver=SOLVER | {"objective_usd": None, "bound_usd": None, "gap": None},
        cost=None,
        time=None,
        decisions=None,
        pools=[],
        binding=[],
        frontier=[],
        relaxations=[deadline, gpus, [nodes, deadline | {"to": 3.2, "total_usd": 650.5, "hours": 3.1}]],
    )


def nothing_found() -> Plan:
    """Stopped by the time limit before any plan was found."""
    return _plan(
        status="feasible",
        solver=SOLVER | {"objective_usd": None, "gap": None, "bound_usd": 100.0},
        cost=None,
        time=None,
        decisions=None,
        pools=[],
        binding=[],
        frontier=[],
    )


def faster() -> Plan:
    """Twice the nodes, half the time, dearer; not proven."""
    return _plan(
        status="feasible",
        cost=COST | {"total_usd": 700.0, "lines": [COST["lines"][0] | {"usd": 700.0}]},
        time=TIME | {"expected_hours": 8.0, "confident_hours": 10.1},
        pools=[MAIN_POOL | {"nodes": 2, "gpus": 16, "usd_per_hour": 63.84}],
        decisions=DECISIONS | {"placement": "async", "group_size": None, "staleness": 1},
    )


def frontier() -> Frontier:
    """Two points, fastest first."""
    return Frontier(points=[faster(), optimal()])
