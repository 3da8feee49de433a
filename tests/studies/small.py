"""Requests on a market of a few machines, so small that every plan of theirs can be listed."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.reading.request_file import read_request
from rlopt.request import Request
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.cheapest import cheapest

SMALL, LARGE = "Qwen/Qwen2.5-0.5B", "Qwen/Qwen2.5-7B-Instruct"
MODELS: dict[str, dict[str, Any]] = {
    "grpo": {"policy": "Qwen/Qwen2.5-1.5B", "reward": LARGE},
    "opd": {"policy": "Qwen/Qwen2.5-1.5B", "teacher": LARGE},
}
CHOICES: dict[str, Any] = {
    "providers": ["aws"],
    "regions": ["us-east-1"],
    "gpus": ["A100-80GB", "H100"],
    "pricing": ["on_demand"],
    "precision": {"rollout": ["bf16"]},
    "mixed_pools": False,
    "placements": ["colocated"],
}


def asked(algorithm: str, models: dict[str, Any] | None = None, **sections: Any) -> Request:
    """A request of one or two machines; ``job``, ``choices``, ``limits`` and ``floors`` add to what stands there."""
    choices = dict(CHOICES) | ({"group_size": [4]} if algorithm == "grpo" else {})
    texts = {} if algorithm == "vla" else {"response_tokens": {"mean": 300, "max": 900}}
    tree = {
        "version": 1,
        "job": {
            "name": "small",
            "algorithm": algorithm,
            "models": {**MODELS.get(algorithm, {"policy": "Qwen/Qwen2.5-1.5B"}), **(models or {})},
            "prompts_per_step": 64,
            "steps": 100,
            "prompt_tokens": {"mean": 100, "max": 200},
            **texts,
            **sections.pop("job", {}),
        },
        "choices": choices | sections.pop("choices", {}),
        "limits": {"max_gpus": 8, **sections.pop("limits", {})},
        "floors": {"checkpoints": {"keep_recent": 1, "history_every": 50}, **sections.pop("floors", {})},
        **sections,
    }
    return read_request(tree)


def solved(request: Request) -> Plan:
    """The proven plan, on which both backends and the listing of every plan agree."""
    problem = problem_of(request)
    plan, other, listed = cheapest(problem, "pulp"), cheapest(problem, "ortools"), exhaustive(problem)
    assert plan.status == other.status
    if listed is None or plan.cost is None or other.cost is None:
        assert plan.status == "infeasible"
        assert listed is None
        return plan
    assert plan.status == "optimal"
    assert plan.cost.total_usd == pytest.approx(listed.usd, rel=1e-9)
    assert other.cost.total_usd == pytest.approx(listed.usd, rel=1e-6)
    assert other.decisions == plan.decisions
    return plan


def usd(plan: Plan) -> float:
    """Total of a plan's bill."""
    assert plan.cost is not None
    return plan.cost.total_usd


def chosen(plan: Plan) -> dict[str, str] | None:
    """Models that a plan has chosen."""
    assert plan.decisions is not None
    return plan.decisions.models
