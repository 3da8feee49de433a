"""Lines of the request that ``rlopt init`` writes, by algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rlopt.request import GENERATING, ROLES
from rlopt.words import AlgorithmName

WHAT: Final[Mapping[str, str]] = {
    AlgorithmName.SFT: "supervised fine-tuning",
    AlgorithmName.DPO: "direct preference optimisation",
    AlgorithmName.RM: "a reward model",
    AlgorithmName.PPO: "PPO from a reward model and a critic",
    AlgorithmName.GRPO: "GRPO, with a program as the reward",
    AlgorithmName.OPD: "on-policy distillation from a larger teacher",
    AlgorithmName.VLA: "a vision-language-action policy in simulation",
}

ROLE_LINES: Final[Mapping[str, str]] = {
    "reference": "    reference: policy             # policy | none | model",
    "critic": "    critic: policy                # policy (a copy of it) | model",
    "teacher": "    teacher: Qwen/Qwen3-32B       # the model to learn from",
}

RUN: Final[Mapping[str, str]] = {
    AlgorithmName.SFT: """\
  prompts_per_step: 128           # sequences per step
  epochs: 1                       # or steps: 400
  dataset_samples: 50000
  prompt_tokens: {mean: 180, max: 1024}
  response_tokens: {mean: 420, max: 3072}
""",
    AlgorithmName.DPO: """\
  prompts_per_step: 128           # pairs per step
  epochs: 1                       # or steps: 400
  dataset_samples: 60000          # pairs
  prompt_tokens: {mean: 250, max: 1024}
  response_tokens: {mean: 350, max: 1024}     # each of chosen and rejected
""",
    AlgorithmName.RM: """\
  prompts_per_step: 64            # pairs per step
  epochs: 1                       # or steps: 400
  dataset_samples: 60000          # pairs
  prompt_tokens: {mean: 200, max: 512}
  response_tokens: {mean: 180, max: 512}      # each of chosen and rejected
""",
    AlgorithmName.PPO: """\
  prompts_per_step: 512
  steps: 100                      # or epochs: 1 with dataset_samples: 50000
  prompt_tokens: {mean: 200, max: 1024}
  response_tokens: {mean: 350, max: 1024}     # p99 where it is known
""",
    AlgorithmName.GRPO: """\
  prompts_per_step: 128
  steps: 200                      # or convergence: {8: 250, 16: 200} (group size: steps)
  prompt_tokens: {mean: 180, max: 1024}
  response_tokens: {mean: 1000, max: 4096}    # p99 where it is known
""",
    AlgorithmName.OPD: """\
  prompts_per_step: 64
  steps: 200                      # or epochs: 1 with dataset_samples: 12800
  prompt_tokens: {mean: 150, max: 1024}
  response_tokens: {mean: 2000, max: 8192}    # p99 where it is known
""",
    AlgorithmName.VLA: """\
  prompts_per_step: 64            # trajectories per iteration
  steps: 20                       # or convergence: {flow: 20, one_step: 30}, with choices.action_head
  prompt_tokens: {mean: 60, max: 128}
  vision: {image_size: 224, cameras: 2, patch: 14, tokens_per_image: 64}
  action: {head: flow, flow_steps: 5, chunk: 50, frequency: 50 Hz}   # policy_loss: awr | ppo (dear)
  trajectory: {mean: 60s, max: 120s}          # on the robot's clock
  filter: {drop: 0.5, before_storage: true}   # share that the value filter drops
  environment: {kind: simulator, runs_on: cpu, steps_per_second: 100,     # instances: a decision
                vcpus_per_instance: 4, memory_per_instance: 8 GiB}
""",
}

VLA_POLICY: Final = """\
    # as in RECAP (arXiv 2511.14759): a VLM of 4 billion weights, an action expert of 0.86, a value of 0.67
    policy: {name: vla-4.7b, params: 4740000000, vlm_params: 3880000000, action_params: 860000000,
             layers: 34, hidden: 2560, heads: 8, kv_heads: 4, head_dim: 256, ffn: 10240, vocab: 262144,
             tie_embeddings: true}
"""

VALUE: Final = """\
    value: {name: value-0.67b, params: 670000000, layers: 18, hidden: 640, heads: 4, kv_heads: 1,
            head_dim: 256, ffn: 2048, vocab: 262144, tie_embeddings: true}  # none | model | backbone head
"""

SAMPLING: Final = """\
  # placements: [colocated, disaggregated, async]
{groups}  precision: {{rollout: [bf16, fp8], score: [bf16], update: [bf16]}}
"""

TAIL: Final = """\
limits:
  deadline: 14d                   # from provisioning to the last upload of one run
  confidence: 0.9                 # chance of making the deadline
  max_gpus: 256
  # budget: {total: 2500 USD, storage: 200 USD}    # all trials; an amount alone is the total
  # quotas: [{provider: aws, gpu: H100, pricing: on_demand, max_gpus: 16}]

floors:                           # what the preset sets holds; tighten freely, loosen with a reason:
  # checkpoints: {keep_recent: 3, history_every: 20}
  # on_demand_share: {value: 0, because: a reclaim costs minutes}

costs:
  currency: USD
  engineer_hour: 90 USD           # 0 USD keeps people off the bill
  # on_call_hours_per_day: 1      # rlopt check says what is left at a default, and what that means
  # idle: {before_release: 30min, automatic: {within: 5min, setup_hours: 2}}
"""

_ROOMY: Final = tuple(name for name in ROLES if name != "vla")
"""Algorithms whose file has lines to spare."""

MORE_OF_THE_JOB: Final[Mapping[str, tuple[str, ...]]] = {
    "  # remedial_share: 0.1           # more tokens, against forgetting": ("sft",),
    "  # data: {versions: {count: 3, changed_share: 0.1, copies: delta}, prepare: {vcpu_seconds_per_sample: 0.01}}": (
        "sft",
        "dpo",
        "rm",
    ),
    "  # pairs: {candidates: 4, judge: rule}                 # made first, from what the policy samples": ("dpo", "rm"),
    "  # divergences: 0.5             # collapses that a run is expected to see": ("ppo",),
    "  # pilots: {runs: 4, share: 0.05}                      # small controlled runs first": ("grpo",),
    "  # evaluation: {every: 20, samples: 500, build_price: 800 USD}": ("sft", "dpo", "ppo", "grpo", "opd"),
    "  # offline: {samples: 500, epochs: 2}    # trajectories for the value model before step 1": ("vla",),
    "  # target: {metric: pass_rate, from: 40, to: 55}        # the plan says what one point costs": (
        "ppo",
        "grpo",
        "opd",
    ),
    "  # target: {metric: success_rate, from: 55, to: 80}     # the plan says what one point costs": ("vla",),
    "  # target: {metric: loss, from: 1.4, to: 1.1}           # the plan says what one point costs": ("sft",),
    "  # target: {metric: accuracy, from: 68, to: 75}         # the plan says what one point costs": ("dpo", "rm"),
    "  # text_log: {abnormal_share: 0.01, debug_steps: 5}    # beside floors.text_log_rate": GENERATING,
    "  # fallback: {share_of_steps: 0.05}                    # steps that leave fp8 for bf16": ("ppo", "grpo", "opd"),
    "  # cache: {replay: 20 GiB, index: 1 GiB, peak_ops: 500}": ("vla",),
    "  # metrics: {scalars: 25, traces: {spans_per_step: 500, sample_rate: 0.1}}": _ROOMY,
}
MORE_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "  # log_probs: [stored]           # or recompute: of frozen models, once or each time": (
        "dpo",
        "ppo",
        "grpo",
        "opd",
    ),
    "  # scoring: [own]                # or shared: the pool of frozen scoring models": ("ppo", "opd"),
    "  # value_bins: [201, 255]        # of the value model; the floor when left out": ("vla",),
}
"""Lines that start as comments, and the algorithms that they matter to."""
