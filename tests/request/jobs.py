"""A small job and request, and ways to change them."""

from __future__ import annotations

from typing import Any

from rlopt.request import Job, Request

TEXT: dict[str, Any] = {"mean": 100, "max": 200}
JOB: dict[str, Any] = {
    "algorithm": "grpo",
    "models": {"policy": "some/model", "reward": "rule"},
    "prompts_per_step": 64,
    "steps": 100,
    "prompt_tokens": TEXT,
    "response_tokens": TEXT,
}


def request(**sections: Any) -> Request:
    return Request.model_validate({"job": JOB, **sections})


def job(**keys: Any) -> Job:
    return Job.model_validate({**JOB, **keys})
