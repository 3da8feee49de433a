"""A request to start from: short, commented, and right as it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from rlopt.errors import InputError
from rlopt.request import GENERATING, ROLES

DEFAULT_MODEL: Final = "Qwen/Qwen2.5-7B-Instruct"
"""A small model that every catalog has."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-]*[A-Za-z_-][A-Za-z0-9_./-]*")
_WORDS: Final = ("true", "false", "null", "policy", "none", "rule")

_WHAT: Final[Mapping[str, str]] = {
    "sft": "supervised fine-tuning",
    "dpo": "direct preference optimisation",
    "rm": "a reward model",
    "ppo": "PPO from a reward model and a critic",
    "grpo": "GRPO, with a program as the reward",
    "opd": "on-policy distillation from a larger teacher",
    "vla": "a vision-language-action policy in simulation",
}

_ROLES: Final[Mapping[str, str]] = {
    "reference": "    reference: policy             # policy | none | model",
    "critic": "    critic: policy                # policy (a copy of it) | model",
    "teacher": "    teacher: Qwen/Qwen3-32B       # the model to learn from",
}

_RUN: Final[Mapping[str, str]] = {
    "sft": """\
  prompts_per_step: 128           # sequences per step
  epochs: 1                       # or steps: 400
  dataset_samples: 50000
  prompt_tokens: {mean: 180, max: 1024}
  response_tokens: {mean: 420, max: 3072}
""",
    "dpo": """\
  prompts_per_step: 128           # pairs per step
  epochs: 1                       # or steps: 400
  dataset_samples: 60000          # pairs
  prompt_tokens: {mean: 250, max: 1024}
  response_tokens: {mean: 350, max: 1024}     # each of chosen and rejected
""",
    "rm": """\
  prompts_per_step: 64            # pairs per step
  epochs: 1                       # or steps: 400
  dataset_samples: 60000          # pairs
  prompt_tokens: {mean: 200, max: 512}
  response_tokens: {mean: 180, max: 512}      # each of chosen and rejected
""",
    "ppo": """\
  prompts_per_step: 512
  steps: 100                      # or epochs: 1 with dataset_samples: 50000
  prompt_tokens: {mean: 200, max: 1024}
  response_tokens: {mean: 350, max: 1024}     # p99 where it is known
""",
    "grpo": """\
  prompts_per_step: 128
  steps: 200                      # or convergence: {8: 250, 16: 200} (group size: steps)
  prompt_tokens: {mean: 180, max: 1024}
  response_tokens: {mean: 1000, max: 4096}    # p99 where it is known
""",
    "opd": """\
  prompts_per_step: 64
  steps: 200                      # or epochs: 1 with dataset_samples: 12800
  prompt_tokens: {mean: 150, max: 1024}
  response_tokens: {mean: 2000, max: 8192}    # p99 where it is known
""",
    "vla": """\
  prompts_per_step: 64            # trajectories per iteration
  steps: 20                       # iterations
  prompt_tokens: {mean: 60, max: 128}
  vision: {image_size: 224, cameras: 2, patch: 14, tokens_per_image: 64}
  action: {head: flow, flow_steps: 5, chunk: 50, frequency: 50 Hz}
  trajectory: {mean: 60s, max: 120s}          # on the robot's clock
  filter: {drop: 0.5, before_storage: true}   # share that the value filter drops
  environment: {kind: simulator, runs_on: cpu, instances: 32, steps_per_second: 100,
                vcpus_per_instance: 4, memory_per_instance: 8 GiB}
""",
}

_VALUE: Final = """\
    # a value model of 0.67 billion weights, as in RECAP (arXiv 2511.14759); none | model
    value: {name: value-0.67b, params: 670000000, layers: 18, hidden: 640, heads: 4, kv_heads: 1,
            head_dim: 256, ffn: 2048, vocab: 262144}
"""

_SAMPLING: Final = """\
  # placements: [colocated, disaggregated, async]
{groups}  precision: {{rollout: [bf16, fp8], score: [bf16], update: [bf16]}}
"""

_TAIL: Final = """\
limits:
  deadline: 14d                   # from provisioning to the last upload of one run
  confidence: 0.9                 # chance of making the deadline
  max_gpus: 256
  # budget: 2500 USD              # the whole bill, all trials
  # quotas: [{provider: aws, gpu: H100, pricing: on_demand, max_gpus: 16}]

floors:                           # what the preset sets holds; tighten freely, loosen with a reason:
  # checkpoints: {keep_recent: 3, history_every: 50}
  # on_demand_share: {value: 0, because: a reclaim costs minutes}

costs:
  currency: USD
  engineer_hour: 90 USD           # 0 USD keeps people off the bill
"""


def init_text(algorithm: str = "grpo", model: str = DEFAULT_MODEL) -> str:
    """Write a commented constraints.yaml for an algorithm and a model.

    Parameters
    ----------
    algorithm
        sft, dpo, rm, ppo, grpo, opd or vla.
    model
        Catalog name, or a path to a Hugging Face config.json.

    Returns
    -------
    str
        Fewer than 60 lines; it loads as it is.

    Raises
    ------
    InputError
        For an unknown algorithm or an empty model.
    """
    if algorithm not in ROLES:
        message = f"there is no algorithm {algorithm!r}"
        raise InputError.of("algorithm", message, allowed=", ".join(ROLES), fix="name one of these")
    if not model.strip() or model.strip() in ("policy", "none", "rule") or not model.isprintable():
        message = f"{model!r} is no model"
        raise InputError.of("model", message, allowed="a name or a path", fix="write Qwen/Qwen2.5-7B-Instruct")
    name = _scalar(model.strip())
    return "\n".join([_head(algorithm, name), _choices(algorithm), _TAIL])


def _scalar(text: str) -> str:
    """Quote a text where YAML would read it as something else."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and text[0] != "-"
    return text if plain else json.dumps(text, ensure_ascii=False)


def _head(algorithm: str, model: str) -> str:
    lines = [
        f"# rlopt: {_WHAT[algorithm]}. Try: rlopt check FILE, then rlopt solve FILE.",
        "# Units: 30s 15min 2.5h 3d, 2500 USD, 80 GiB, 100 Gbps, 50 Hz. All keys: rlopt schema",
        "version: 1",
        f"{f'extends: [{algorithm}]':<34}# stability floors with their evidence; this file wins",
        f"{'objective: cost':<34}# cost: cheapest in the deadline | time: fastest in the budget",
        "",
        "job:",
        f"  name: my-{algorithm}-run",
        f"  algorithm: {algorithm:<20} # {' | '.join(ROLES)}",
        "  tags: {project: demo}",
        "  models:",
        f"    policy: {model:<21} # catalog name | path to a config.json | inline fields",
    ]
    for role in ROLES[algorithm]:
        if role in _ROLES:
            lines.append(_ROLES[role])
        elif role == "reward":
            reward = "rule" if algorithm == "grpo" else model
            lines.append(f"    reward: {reward:<21} # rule | none | model")
        elif role == "value":
            lines.append(_VALUE.rstrip("\n"))
    frozen = algorithm == "vla"
    trained = "{frozen: [vision, backbone]}" if frozen else "full"
    lines.append(f"  trainable: {trained:<20} # full | {{lora_rank: 32}} | {{frozen: [vision, backbone]}}")
    lines.append("  optimizer: adamw                # adamw | adamw_bf16 | adamw_8bit")
    lines.append(_RUN[algorithm] + "  trials: 1                       # expected full runs, tuning included\n")
    return "\n".join(lines)


def _choices(algorithm: str) -> str:
    lines = (
        "choices:                          # what is left out is open\n"
        "  # providers: [aws, gcp, lambda]\n"
        "  # regions: [us-east-1]          # or per provider: {aws: [us-east-1], lambda: any}\n"
        "  # gpus: [H100, A100-80GB]       # a family name stands for all its forms\n"
        "  pricing: [on_demand, spot]      # reserved bills its whole term\n"
    )
    if algorithm not in GENERATING:
        score = ", score: [bf16]" if algorithm == "dpo" else ""
        return f"{lines}  precision: {{update: [bf16]{score}}}\n"
    groups = "  group_size: [8, 16]             # samples per prompt (K)\n" if algorithm == "grpo" else ""
    groups = "  group_size: [4]                 # samples per prompt\n" if algorithm == "opd" else groups
    return lines + _SAMPLING.format(groups=groups)
