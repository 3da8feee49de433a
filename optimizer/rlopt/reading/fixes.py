"""How keys are written, for complaints that say what to add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EXAMPLES: Final[Mapping[str, str]] = {
    "job": "{algorithm: grpo, ...}",
    "job.algorithm": "grpo",
    "job.models": "{policy: Qwen/Qwen2.5-7B-Instruct}",
    "job.models.policy": "Qwen/Qwen2.5-7B-Instruct",
    "job.prompts_per_step": "128",
    "job.prompt_tokens": "{mean: 180, max: 1024}",
    "job.response_tokens": "{mean: 1500, max: 8192}",
    "job.convergence": "{8: 700, 16: 600}",
    "job.trajectory": "{mean: 60s, max: 120s}",
    "job.tags": "{project: math}",
    "job.evaluation": "{every: 50, samples: 500}",
    "job.environment": "{kind: tools, calls_per_sample: {...}, seconds_per_call: {...}}",
    "job.trajectory.mean": "60s",
    "job.trajectory.max": "120s",
    "job.environment.seconds_per_call.mean": "2s",
    "job.environment.seconds_per_call.max": "30s",
    "job.environment.calls_per_sample.mean": "2",
    "job.environment.calls_per_sample.max": "8",
    "job.environment.calls_per_sample": "{mean: 2, max: 8}",
    "job.environment.seconds_per_call": "{mean: 2s, max: 30s}",
    "job.vision": "{image_size: 224, tokens_per_image: 64}",
    "job.action": "{head: flow, flow_steps: 10, chunk: 50, frequency: 50 Hz}",
    "choices.precision": "{rollout: [bf16, fp8], update: [bf16]}",
    "choices.discounts": "{aws: 0.1}",
    "limits.quotas": "[{provider: aws, gpu: H100, max_gpus: 16}]",
    "floors.checkpoints": "{keep_recent: 2, keep_best: 1}",
    "costs.keep_for": "{checkpoints: 720h, logs: 720h}",
    "costs.exchange_rates": "{CNY: 0.14 USD}",
    "costs.setup_hours": "{colocated: 4, disaggregated: 12, async: 16}",
}
"""How a key is written, for fixes."""


EXAMPLES_BY_NAME: Final[Mapping[str, str]] = {
    "mean": "180",
    "max": "1024",
    "max_gpus": "16",
    "image_size": "224",
    "head": "flow",
    "chunk": "50",
    "frequency": "50 Hz",
    "kind": "tools",
    "every": "50",
    "samples": "500",
    "layers": "28",
    "hidden": "3584",
    "heads": "28",
    "kv_heads": "4",
    "head_dim": "128",
    "ffn": "18944",
    "vocab": "152064",
    "kv_lora": "512",
    "qk_nope": "128",
    "qk_rope": "64",
    "v_dim": "128",
}
"""How a key of this name is written anywhere (the shape is Qwen2.5-7B's, the latent DeepSeek-V3's)."""
