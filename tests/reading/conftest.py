"""A small right request, and ways to change and read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt.errors import Complaint, InputError
from rlopt.reading.request_file import load_request
from rlopt.request import Request

GRPO = """\
version: 1
job:
  name: small
  algorithm: grpo
  models: {policy: Qwen/Qwen2.5-0.5B, reward: rule}
  prompts_per_step: 64
  steps: 100
  prompt_tokens: {mean: 100, max: 512}
  response_tokens: {mean: 200, max: 1024}
choices:
  group_size: [8]
limits:
  deadline: 24h
  budget: 100 USD
floors:
  update_precision: bf16
costs:
  currency: USD
"""

SFT = """\
version: 1
job:
  algorithm: sft
  models: {policy: Qwen/Qwen2.5-0.5B}
  prompts_per_step: 64
  steps: 100
  prompt_tokens: {mean: 100, max: 512}
  response_tokens: {mean: 200, max: 1024}
"""

VLA = """\
version: 1
job:
  algorithm: vla
  models: {policy: some/vla}
  prompts_per_step: 8
  steps: 10
  prompt_tokens: {mean: 20, max: 64}
  vision: {image_size: 224}
  action: {head: flow, flow_steps: 5, chunk: 50, frequency: 50 Hz}
  trajectory: {mean: 60s, max: 120s}
  environment: {kind: simulator, instances: 8, steps_per_second: 100}
"""

BASES = {"grpo": GRPO, "sft": SFT, "vla": VLA}

Write = Callable[..., Path]
Load = Callable[..., Request]
Complain = Callable[..., tuple[Complaint, ...]]


@pytest.fixture(scope="session")
def bases() -> dict[str, str]:
    """Give right requests by algorithm."""
    return dict(BASES)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a text or bytes to a file of a folder of this test."""

    def _write(content: str | bytes, name: str = "constraints.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.fixture
def load(write: Write) -> Load:
    """Load a request from its text."""

    def _load(text: str, *overrides: str) -> Request:
        return load_request(write(text), overrides)

    return _load


@pytest.fixture
def complain(write: Write) -> Complain:
    """Read a text that is wrong and give the complaints."""

    def _complain(text: str | bytes, *overrides: str) -> tuple[Complaint, ...]:
        with pytest.raises(InputError) as caught:
            load_request(write(text), overrides)
        assert str(caught.value)
        return caught.value.complaints

    return _complain
