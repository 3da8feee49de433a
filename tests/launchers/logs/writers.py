"""Logs of runs whose truth is known, line by line in the shapes that launchers write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

GENERATE, SCORE, UPDATE, HAND_OVER = "generate", "score", "update", "hand over weights"


@dataclass(frozen=True)
class Truth:
    """Seconds of a steady step by stage, what else a step holds, and what it works on."""

    seconds: Mapping[str, float] = field(
        default_factory=lambda: {GENERATE: 96.0, SCORE: 28.0, UPDATE: 61.0, HAND_OVER: 3.6}
    )
    other: float = 4.0
    response: float = 800.0
    prompt: float = 180.0
    sequences: int = 1024
    noise: float = 0.02
    warm_up: float = 3.0
    save_every: int = 10
    save: float = 40.0


def steps(truth: Truth, count: int, first: int = 1, seed: int = 7) -> list[tuple[int, dict[str, float]]]:
    """Number and stages of each step; the first two are slow, every tenth saves within its total."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(first, first + count):
        slow = truth.warm_up if number - first < 2 else 1.0
        one = {stage: spent * slow * float(np.exp(truth.noise * draw.standard_normal()))
               for stage, spent in truth.seconds.items()}  # fmt: skip
        one["other"] = truth.other
        one["save"] = truth.save if number % truth.save_every == 0 else 0.0
        one["step"] = sum(one.values())
        found.append((number, one))
    return found


def verl_values(truth: Truth, one: Mapping[str, float]) -> dict[str, float]:
    """What verl logs of a step, by name."""
    found = {
        "actor/pg_loss": 0.0021,
        "perf/mfu/actor": 0.39,
        "response_length/mean": truth.response,
        "response_length/max": 4096.0,
        "prompt_length/mean": truth.prompt,
        "timing_s/gen": one[GENERATE],
        "timing_s/old_log_prob": one[SCORE] / 2,
        "timing_s/ref": one[SCORE] / 2,
        "timing_s/adv": 0.7,
        "timing_s/update_actor": one[UPDATE],
        "timing_s/update_weights": one[HAND_OVER],
        "timing_per_token_ms/gen": 0.14,
        "timing_s/agent_loop/generate_sequences/max": one[GENERATE] * 0.9,
        "timing_s/step": one["step"],
        "perf/total_num_tokens": truth.sequences * (truth.response + truth.prompt),
        "perf/throughput": 2209.7,
    }
    return found | ({"timing_s/save_checkpoint": one["save"]} if one["save"] else {})


def verl(truth: Truth, count: int, prefix: str = "(TaskRunnerV1 pid=4711) ", **how: int) -> list[str]:
    """Console lines."""
    lines = []
    for number, one in steps(truth, count, **how):
        pairs = verl_values(truth, one)
        told = [f"{k}:np.float64({v!r})" if "mfu" in k or "gen" in k else f"{k}:{v!r}" for k, v in pairs.items()]
        lines.append(f"{prefix}step:{number} - {' - '.join(told)}")
    return lines


def verl_jsonl(truth: Truth, count: int, **how: int) -> list[str]:
    """Lines of verl's file logger."""
    return [json.dumps({"step": n, "data": verl_values(truth, one)}) for n, one in steps(truth, count, **how)]


def openrlhf(truth: Truth, count: int, **how: int) -> list[str]:
    """Console lines of a synchronous run: the total is the sum of the four timers."""
    lines = []
    for number, one in steps(truth, count, **how):
        told = {
            "policy_loss": 0.0031,
            "actor_lr": 1e-06,
            "timing/make_experience": one[SCORE],
            "timing/ppo_train": one[UPDATE],
            "timing/broadcast": one[HAND_OVER],
            "rollout/response_length_mean": truth.response,
            "rollout/num_samples": float(truth.sequences),
            "timing/generation": one[GENERATE],
            "timing/step_total": one[GENERATE] + one[SCORE] + one[UPDATE] + one[HAND_OVER],
        }
        head = "(PPOTrainer pid=812) INFO 09-20 11:42:07 ppo_trainer.py:551] ✨ Global step"
        lines.append(f"{head} {number}: {told}")
    return lines


def trl(truth: Truth, count: int, **how: int) -> list[str]:
    """Console lines with floats printed as text of four digits."""
    return [str({"loss": "0.0031", "grad_norm": "0.214", "num_tokens": "4.084e+07",
                 "completions/mean_length": f"{truth.response:.4g}", "reward": "0.41",
                 "step_time": f"{one['step'] - one['save']:.4g}", "epoch": "0.0922"})
            for _, one in steps(truth, count, **how)]  # fmt: skip


def trainer_state(truth: Truth, count: int, **how: int) -> str:
    """A trainer_state.json."""
    history: list[dict[str, float]] = [
        {"completions/mean_length": truth.response, "num_tokens": 1003520.0 * number,
         "step_time": one["step"] - one["save"], "epoch": 0.01 * number, "step": number}
        for number, one in steps(truth, count, **how)
    ]  # fmt: skip
    history.append({"eval_loss": 0.3, "step": count})
    return json.dumps({"epoch": 1.0, "global_step": count, "log_history": history}, indent=2)


def nemo_values(one: Mapping[str, float]) -> dict[str, float]:
    """NeMo-RL's labels; one holds its own part, and one is a rate."""
    found = {
        "generation": one[GENERATE],
        "policy_training": one[UPDATE],
        "policy_and_reference_logprobs": one[SCORE],
        "prepare_for_generation/total": one[HAND_OVER],
        "prepare_for_generation/transfer_and_update_weights": one[HAND_OVER] * 0.6,
        "data_processing": 0.4,
    }
    return found | ({"checkpointing": one["save"]} if one["save"] else {})


def nemo_rl(truth: Truth, count: int, **how: int) -> list[str]:
    """Console lines: blocks of bullets."""
    lines: list[str] = []
    for number, one in steps(truth, count, **how):
        lines += ["", f"{'=' * 25} Step {number}/600 {'=' * 25}", "▶ Preparing batch...", "📊 Training Results:"]
        lines += ["  • Loss: 0.0312", f"  • Mean Generation Length: {truth.response:.4f}", "", "⏱️  Timing:"]
        lines += [f"  • Total step time: {one['step']:.2f}s"]
        lines += [f"  • {k}: {v:.2f}s ({v / one['step']:.1%})" for k, v in nemo_values(one).items()]
        lines += [
            "",
            "🔍 Performance Metrics:",
            f"  • Mean Total Tokens per Sample: {truth.response + truth.prompt:.2f}",
        ]
        lines += ["  • Throughputs (per GPU):", "    - E2E (Tokens/sec/gpu): 2111.64"]
    return lines


def nemo_tracked(truth: Truth, count: int, **how: int) -> list[str]:
    """A tracker's records of NeMo-RL, with prefixes, as JSON lines."""
    lines = []
    for number, one in steps(truth, count, **how):
        told = {f"timing/train/{k}": v for k, v in nemo_values(one).items()}
        told |= {"timing/train/total_step_time": one["step"], "timing/train/valid_tokens_per_sec_per_gpu": 2100.0}
        told |= {"train/mean_gen_tokens_per_sample": truth.response, "_step": float(number)}
        lines.append(json.dumps(told))
    return lines


def slime(truth: Truth, count: int, **how: int) -> list[str]:
    """Two console lines per step."""
    lines = []
    for number, one in steps(truth, count, **how):
        lines.append(f"perf {number}: { ({'perf/rollout_time': one[GENERATE], 'perf/tokens_per_gpu_per_sec': 99.0}) }")
        told = {
            "perf/train_wait_time": one[GENERATE] + truth.other,
            "perf/log_probs_time": one[SCORE] / 2,
            "perf/ref_log_probs_time": one[SCORE] / 2,
            "perf/actor_train_time": one[UPDATE],
            "perf/update_weights_time": one[HAND_OVER],
            "perf/actor_train_tflops": 402.6,
            "perf/step_time": one["step"] - one["save"],
        }
        lines.append(f"perf {number}: {told}")
    return lines


def text(lines: Sequence[str]) -> str:
    """Lines as a file."""
    return "\n".join(lines) + "\n"
