"""Requests and models that the tests of the workloads share."""

from __future__ import annotations

from typing import Any

from rlopt.facts import Model, Vision
from rlopt.request import Request

TEXT = Model("text", "", 1.0e9, 1.0e9, 16, 2048, 16, 8, 128, 8192, True, 32000, tie_embeddings=True)
LARGE = Model("large", "", 8.0e9, 8.0e9, 32, 4096, 32, 8, 128, 14336, True, 128256)
TOWER = Vision(layers=27, hidden=1152, ffn=4304, heads=16, patch=14, merge=1, params=0.4e9)
POLICY = Model(
    "gemma3-4b-flow", "", 4.74e9, 4.74e9, 34, 2560, 8, 4, 256, 10240, True, 262144,
    tie_embeddings=True, vlm_params=3.88e9, action_params=0.86e9, attention_layers=34.0,
)  # fmt: skip
VALUE = Model("value", "", 0.67e9, 0.67e9, 18, 640, 4, 1, 256, 2048, True, 262144, tie_embeddings=True)
MODELS = {"policy": TEXT, "reference": TEXT, "reward": LARGE, "teacher": LARGE, "critic": TEXT}
ROBOT = {"policy": POLICY, "value": VALUE}

ROLES: dict[str, dict[str, str]] = {
    "sft": {},
    "rm": {},
    "dpo": {"reference": "policy"},
    "ppo": {"reference": "policy", "critic": "policy", "reward": "large"},
    "grpo": {"reference": "policy", "reward": "rule"},
    "opd": {"teacher": "large"},
    "vla": {"value": "small"},
}
VLA: dict[str, Any] = {
    "prompts_per_step": 64,
    "prompt_tokens": {"mean": 60, "max": 128},
    "response_tokens": {"mean": 0, "max": 0},
    "vision": {"image_size": 448, "cameras": 3, "patch": 14, "tokens_per_image": 256},
    "action": {"head": "flow", "flow_steps": 5, "chunk": 50, "frequency": 50.0},
    "trajectory": {"mean": 300.0, "max": 600.0},
    "value_stride": 1.0,
    "filter": {"drop": 0.5, "before_storage": True},
    "environment": {
        "kind": "simulator",
        "instances": 64,
        "steps_per_second": 100.0,
        "vcpus_per_instance": 4.0,
        "memory_per_instance": 8.0 * 2**30,
    },
}


def request(algorithm: str, job: dict[str, Any] | None = None, **sections: Any) -> Request:
    """A request of ``algorithm`` in canonical units; ``job`` and other sections add to it."""
    plain: dict[str, Any] = {
        "algorithm": algorithm,
        "models": {"policy": "text", **ROLES[algorithm]},
        "prompts_per_step": 16,
        "steps": 100,
        "prompt_tokens": {"mean": 200, "max": 512},
        "response_tokens": {"mean": 300, "max": 1000},
    }
    if algorithm == "vla":
        plain |= VLA
        sections.setdefault("floors", {"value_bins": 201})
    if algorithm == "grpo":
        sections.setdefault("choices", {"group_size": [4, 8]})
    return Request.model_validate({"version": 1, "job": {**plain, **(job or {})}, **sections})


def models(algorithm: str) -> dict[str, Model]:
    """Facts of the roles of ``algorithm``."""
    if algorithm == "vla":
        return ROBOT
    asked = ROLES[algorithm]
    return {"policy": TEXT, **{role: MODELS[role] for role, name in asked.items() if name != "rule"}}
