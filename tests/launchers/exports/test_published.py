"""A verl export of example 01 beside the script that verl publishes for that job: each difference has its reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rlopt import api

PLAN = "the plan decides it"
REQUEST = "the request asks for another"
OWN = "no part of a plan: verl's default stands"
BLANK = "only the user knows it"
RENAMED = "the older, global name of a key that counts per GPU"
DIFFERENT = {
    "algorithm.kl_ctrl.kl_coef": OWN,
    "actor_rollout_ref.actor.entropy_coeff": OWN,
    "actor_rollout_ref.actor.fsdp_config.optimizer_offload": PLAN,
    "actor_rollout_ref.actor.fsdp_config.param_offload": PLAN,
    "actor_rollout_ref.actor.kl_loss_coef": OWN,
    "actor_rollout_ref.actor.kl_loss_type": OWN,
    "actor_rollout_ref.actor.optim.lr": OWN,
    "actor_rollout_ref.actor.ppo_micro_batch_size": RENAMED,
    "actor_rollout_ref.actor.ulysses_sequence_parallel_size": "written as fsdp_config.ulysses_sequence_parallel_size",
    "actor_rollout_ref.model.enable_gradient_checkpointing": PLAN,
    "actor_rollout_ref.model.use_shm": OWN,
    "actor_rollout_ref.ref.fsdp_config.param_offload": "FSDP holds a reference on the CPU whatever it says",
    "actor_rollout_ref.ref.log_prob_micro_batch_size": RENAMED,
    "actor_rollout_ref.rollout.enable_chunked_prefill": OWN,
    "actor_rollout_ref.rollout.gpu_memory_utilization": PLAN,
    "actor_rollout_ref.rollout.layered_summon": OWN,
    "actor_rollout_ref.rollout.log_prob_micro_batch_size": RENAMED,
    "actor_rollout_ref.rollout.max_model_len": OWN,
    "actor_rollout_ref.rollout.max_num_batched_tokens": OWN,
    "actor_rollout_ref.rollout.max_num_seqs": "room for every sequence of a step: 116 prompts x 8",
    "actor_rollout_ref.rollout.n": REQUEST,
    "data.shuffle": OWN,
    "data.train_files": BLANK,
    "data.val_batch_size": OWN,
    "data.val_files": BLANK,
    "trainer.critic_warmup": OWN,
    "trainer.experiment_name": REQUEST,
    "trainer.logger": "no account of another service",
    "trainer.project_name": REQUEST,
    "trainer.save_freq": PLAN,
    "trainer.test_freq": REQUEST,
    "trainer.total_epochs": "total_training_steps ends the run",
}
ADDED = {
    "actor_rollout_ref.actor.fsdp_config.dtype": PLAN,
    "actor_rollout_ref.actor.fsdp_config.model_dtype": PLAN,
    "actor_rollout_ref.actor.fsdp_config.offload_policy": PLAN,
    "actor_rollout_ref.actor.fsdp_config.reshard_after_forward": PLAN,
    "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size": PLAN,
    "actor_rollout_ref.actor.ppo_epochs": REQUEST,
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu": PLAN,
    "actor_rollout_ref.actor.use_dynamic_bsz": PLAN,
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": PLAN,
    "actor_rollout_ref.actor.strategy": PLAN,
    "actor_rollout_ref.hybrid_engine": PLAN,
    "actor_rollout_ref.ref.fsdp_config.model_dtype": PLAN,
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": PLAN,
    "actor_rollout_ref.rollout.dtype": PLAN,
    "actor_rollout_ref.rollout.free_cache_engine": PLAN,
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": PLAN,
    "reward.custom_reward_function.path": BLANK,
    "trainer.default_local_dir": BLANK,
    "trainer.max_actor_ckpt_to_keep": REQUEST,
    "trainer.resume_mode": "a stopped run goes on",
    "trainer.total_training_steps": REQUEST,
    "trainer.v1.trainer_mode": PLAN,
    "trainer.val_before_train": REQUEST,
}


def settings(text: str) -> dict[str, Any]:
    found = dict(re.findall(r"^    \+*([a-z_][\w.]*)=(\S+) \\$", text, re.MULTILINE))
    words = {"true": True, "false": False}
    return {key: words.get(value, _number(value)) for key, value in found.items()}


def _number(value: str) -> Any:
    try:
        return int(value)
    except ValueError:
        return value


def test_an_export_differs_from_the_published_script_only_for_reasons(root: Path) -> None:
    published = json.loads((root / "tests/data/launchers/verl_grpo_lora_published.json").read_text(encoding="utf-8"))
    request = api.load(root / "examples/requests/01-grpo-lora-qwen2.5-0.5b-one-gpu.yaml")
    ours, theirs = settings(api.export(request, "verl").files["launch.sh"]), published["settings"]
    assert {key for key in theirs if ours.get(key) != theirs[key]} == set(DIFFERENT)
    assert ours.keys() - theirs.keys() == set(ADDED)
