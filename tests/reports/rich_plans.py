"""Plans with what the plain ones lack: mixed and scoring pools, reserved machines, a policy of two parts."""

from __future__ import annotations

from typing import Any

from rlopt.answers.plan import Plan
from tests.reports.plans import CPU_POOL, DECISIONS, MAIN_POOL, TIME, optimal

ENGINE = MAIN_POOL["layout"] | {"dp": 1, "sharding": None, "micro_batch": None, "recompute": None, "offload": None}
ROLLOUT = MAIN_POOL | {
    "name": "rollout-1",
    "roles": ["generate"],
    "serves": ["policy"],
    "layout": ENGINE | {"rollout_tp": None},
    "precision": "fp8",
    "share": 0.625,
    "memory": MAIN_POOL["memory"]
    | {"stage": "generate", "host_gib": None, "parts": {"weights": 7.1, "kv_cache": 54.15}},
}
CHEAPER = ROLLOUT | {"name": "rollout-2", "pricing": "spot", "share": 0.375, "usd_per_hour": 12.4}
TRAIN = MAIN_POOL | {
    "name": "train",
    "roles": ["forward", "update"],
    "serves": ["policy", "reference"],
    "pricing": "reserved",
    "term_hours": 168.0,
    "memory": MAIN_POOL["memory"] | {"stage": "update policy", "frozen_gib": 7.1},
}
SCORE = MAIN_POOL | {
    "name": "score",
    "roles": ["forward"],
    "serves": ["teacher"],
    "layout": MAIN_POOL["layout"] | {"rollout_tp": None},
    "memory": MAIN_POOL["memory"] | {"stage": "forward teacher", "frozen_gib": 14.2},
}
STAGES = [
    {"stage": "forward", "pool": "train", "seconds": 9.8, "utilization": None, "model": "reference"},
    {"stage": "update", "pool": "train", "seconds": 25.0, "utilization": None, "model": "policy"},
    {"stage": "generate", "pool": "rollout-1", "seconds": 61.2, "utilization": 0.64, "model": "policy"},
    {"stage": "generate", "pool": "rollout-2", "seconds": 61.2, "utilization": 0.71, "model": "policy"},
    {"stage": "evaluation", "pool": "rollout-1", "seconds": 2.5, "utilization": None, "model": "policy"},
    {"stage": "forward", "pool": "score", "seconds": 18.0, "utilization": None, "model": "teacher"},
    {"stage": "transfer", "pool": "score", "seconds": 4.0, "utilization": None, "model": "policy"},
]


def _changed(**changes: Any) -> Plan:
    return Plan.model_validate({**optimal().document(), **changes})


def mixed() -> Plan:
    """A reserved training pool, a rollout pool of two offers, a teacher on its own, everything of the data decided."""
    return _changed(
        pools=[TRAIN, ROLLOUT, CHEAPER, SCORE],
        time=TIME | {"stages": STAGES},
        decisions=DECISIONS
        | {
            "placement": "async",
            "staleness": 1,
            "data": {"cleaned": False, "log_probs": "stored"},
            "environment": {"kind": "tools", "instances": 1024},
            "operations": {"release": "automatic"},
        },
        frontier=[
            {"confident_hours": 20.3000001, "total_usd": 612.40001, "summary": "8 H100-SXM reserved at lambda + 4 L40S"}
        ],
    )


def acting() -> Plan:
    """A policy of backbone and action expert, and a value model of bins, in simulators."""
    memory = MAIN_POOL["memory"] | {"stage": "update policy", "parts": {"weights": 10.0, "logits": 0.004}}
    stages = [
        {"stage": "forward", "pool": "main", "seconds": 9.8, "utilization": None, "model": "value"},
        {"stage": "update", "pool": "main", "seconds": 12.0, "utilization": None, "model": "value"},
        {"stage": "update", "pool": "main", "seconds": 20.0, "utilization": None, "model": "policy"},
        {"stage": "update", "pool": "main", "seconds": 5.0, "utilization": None, "model": "action"},
        {"stage": "generate", "pool": "main", "seconds": 49.2, "utilization": 0.9, "model": "policy"},
    ]
    return _changed(
        pools=[MAIN_POOL | {"serves": ["policy", "value", "action"], "memory": memory}, CPU_POOL],
        time=TIME | {"stages": stages},
        decisions=DECISIONS
        | {
            "group_size": 1,
            "data": {"value_bins": 201},
            "environment": {"kind": "simulator", "instances": 64},
            "operations": {"release": "by hand"},
        },
    )
