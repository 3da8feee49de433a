"""verl 0.9.1: ``verl.trainer.main_ppo`` with Hydra overrides (grpo, ppo, opd), ``sft_trainer`` under torchrun.

Keys are those of its own configuration tree (verl/trainer/config of the wheel). Layouts without tensor, pipeline and
expert parallelism that shard fully run on FSDP2, everything else on Megatron-Core.
"""

from __future__ import annotations

from typing import Any, Final

from rlopt.launchers.exports.batches import StepBatches, batch_of
from rlopt.launchers.exports.contract import Blank, Export, Gap
from rlopt.launchers.exports.gaps import common_gaps, frozen_gaps
from rlopt.launchers.exports.models import address, blanks_of, has_model
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.smoke import Smoke, smoke_of
from rlopt.launchers.exports.text import override, script, smoke_script
from rlopt.launchers.verl import engine as verl_engine
from rlopt.launchers.verl import roles as verl_roles
from rlopt.launchers.verl import sft as verl_sft

NAME: Final = "verl"
VERSION: Final = "0.9.1"
ALGORITHMS: Final = ("sft", "ppo", "grpo", "opd")
ACTOR, ROLLOUT, REF = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
MANY_EPOCHS: Final = 100_000
LEAST_SEQS: Final = 256
Settings = dict[str, Any]

TRAIN = Blank("TRAIN_FILES", "the parquet files to train on")
VAL = Blank("VAL_FILES", "parquet files to validate on: verl reads them at start even where nothing is validated")
REWARD = Blank("REWARD_FILE", "the Python file whose function compute_score gives the reward")
SAVES = Blank("CHECKPOINT_DIR", "the folder for checkpoints", "checkpoints")


def export(run: Run, smoke: bool) -> Export:
    """The launch script, a short trial where asked for, and what they could not say."""
    engine = verl_engine.engine_of(run)
    batch = batch_of(run, engine.ranks, whole=not run.request.job.packing)
    if run.algorithm == "sft":
        settings, blanks, gaps = verl_sft.settings(run, engine, batch)
        command = verl_sft.command(run)
    else:
        settings, blanks, gaps = _online(run, engine, batch)
        command = "python3 -m verl.trainer.main_ppo"
    title = f"{run.request.job.name} for verl {VERSION}"
    frozen = frozen_gaps(run, *(() if run.algorithm == "sft" else ("vision",)))
    found = [*engine.gaps, *batch.gaps, *gaps, *frozen, *common_gaps(run)]
    words = [override(key, value) for key, value in settings.items()]
    files = {"launch.sh": script(title, found, blanks, command, words)}
    trial = smoke_of(run, batch) if smoke else None
    if trial is not None:
        files["smoke.sh"] = smoke_script(f"a short trial of {title}", [override(*one) for one in _trial(run, trial)])
        found += _trial_gaps()
    seconds = None if trial is None else trial.seconds
    return Export(NAME, VERSION, files, tuple(found), tuple(blanks), tuple(_checks(run)), seconds)


def _online(run: Run, engine: verl_engine.VerlBackend, batch: StepBatches) -> tuple[Settings, list[Blank], list[Gap]]:
    job, policy = run.request.job, address(run, "policy")
    estimator = "gae" if run.algorithm == "ppo" else "grpo"
    reference = has_model(run, "reference") and run.algorithm != "opd"
    settings: Settings = {} if engine.fsdp else {"model_engine": "megatron"}
    settings |= {
        "algorithm.adv_estimator": estimator,
        "algorithm.use_kl_in_reward": reference and run.algorithm == "ppo",
        "data.train_files": TRAIN,
        "data.val_files": VAL,
        "data.train_batch_size": batch.prompts,
        "data.max_prompt_length": run.prompt_tokens,
        "data.max_response_length": run.response_tokens,
        "data.filter_overlong_prompts": True,
        "data.truncation": "error",
        "actor_rollout_ref.model.path": policy,
        "actor_rollout_ref.model.use_remove_padding": job.packing,
        f"{ACTOR}.ppo_mini_batch_size": batch.prompts // run.updates,
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": batch.micro_batch,
        f"{ACTOR}.ppo_epochs": job.ppo_epochs,
        f"{ACTOR}.use_kl_loss": reference and run.algorithm != "ppo",
        f"{ROLLOUT}.name": "vllm",
        f"{ROLLOUT}.n": run.group,
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": batch.micro_batch,
    }
    if job.packing:
        settings |= {
            f"{ACTOR}.use_dynamic_bsz": True,
            f"{ACTOR}.ppo_max_token_len_per_gpu": run.budget_tokens(run.degree("cp")),
        }
    if reference:
        settings[f"{REF}.log_prob_micro_batch_size_per_gpu"] = batch.micro_batch
        if engine.fsdp:  # verl's own default holds it in fp32, the plan in 16 bits
            settings[f"{REF}.fsdp_config.model_dtype"] = "bf16"
    settings |= engine.settings
    blanks, gaps = [TRAIN, VAL, *blanks_of(policy)], list[Gap]()
    for part in (_rollout, verl_roles.roles, _saving):
        added, asked, missing = part(run, batch)
        settings, blanks, gaps = settings | added, [*blanks, *asked], [*gaps, *missing]
    if run.algorithm in ("grpo", "ppo") and not has_model(run, "reward"):
        settings["reward.custom_reward_function.path"] = REWARD
        blanks.append(REWARD)
    return settings, blanks, gaps


def _rollout(run: Run, batch: StepBatches) -> tuple[Settings, list[Blank], list[Gap]]:
    pools = run.samplers or (run.trainer,)
    pool, gaps = pools[0], list[Gap]()
    tp, ep = run.engine_tp(pool), run.engine_ep(pool)
    settings: Settings = {
        f"{ROLLOUT}.tensor_model_parallel_size": tp,
        f"{ROLLOUT}.dtype": "bfloat16",
        f"{ROLLOUT}.free_cache_engine": True,
    }
    if ep > 1:
        settings |= {f"{ROLLOUT}.expert_parallel_size": ep, f"{ROLLOUT}.data_parallel_size": max(1, ep // tp)}
    fraction = run.engine_fraction(pool)
    if fraction is not None:
        settings[f"{ROLLOUT}.gpu_memory_utilization"] = fraction
    replicas = max(1, pool.gpus // max(tp, ep))
    settings[f"{ROLLOUT}.max_num_seqs"] = max(LEAST_SEQS, -(-batch.prompts * run.group // replicas))
    low = run.made.precision.rollout
    if low in ("fp8",):
        settings[f"{ROLLOUT}.quantization"] = low
    elif low not in ("bf16", None):
        gaps.append(Gap(f"samples are generated in {low}", "verl's vLLM engine runs in bf16 here", True))
    settings |= {"trainer.nnodes": run.trainer.nodes, "trainer.n_gpus_per_node": run.trainer.gpus_per_node}
    if run.samplers:
        settings |= {
            "actor_rollout_ref.hybrid_engine": False,
            "trainer.v1.trainer_mode": "separate_async",
            "trainer.v1.separate_async.parameter_sync_step": run.updates,
            "trainer.v1.sampler.max_off_policy_threshold": run.made.staleness + 1,
            "trainer.v1.sampler.max_off_policy_strategy": "wait",
            f"{ROLLOUT}.nnodes": pool.nodes,
            f"{ROLLOUT}.n_gpus_per_node": pool.gpus_per_node,
            f"{ROLLOUT}.checkpoint_engine.backend": "nccl",
        }
        for other in pools[1:]:
            says = f"pool {other.name} ({other.gpus} x {other.gpu}) samples {other.share or 0.0:.0%} beside {pool.name}"
            gaps.append(Gap(says, "verl has engines of one shape: leave it out, or plan without mixed pools", True))
    else:
        settings |= {"actor_rollout_ref.hybrid_engine": True, "trainer.v1.trainer_mode": "sync"}
    if run.request.job.trainable.kind == "lora":
        settings[f"{ROLLOUT}.load_format"] = "safetensors"
    return settings, [], gaps


def _saving(run: Run, batch: StepBatches) -> tuple[Settings, list[Blank], list[Gap]]:
    evaluation, job = run.request.job.evaluation, run.request.job
    settings: Settings = {
        "trainer.total_epochs": MANY_EPOCHS,
        "trainer.total_training_steps": run.steps,
        "trainer.save_freq": run.save_steps,
        "trainer.max_actor_ckpt_to_keep": run.keep_recent,
        "trainer.resume_mode": "auto",
        "trainer.val_before_train": False,
        "trainer.test_freq": evaluation.every if evaluation is not None else -1,
        "trainer.project_name": job.tags.get("project", "rlopt"),
        "trainer.experiment_name": job.name,
        "trainer.default_local_dir": SAVES,
        "trainer.logger": ["console"],
    }
    if run.algorithm == "ppo":
        settings["trainer.max_critic_ckpt_to_keep"] = run.keep_recent
    return settings, [SAVES], []


def _trial(run: Run, smoke: Smoke) -> list[tuple[str, Any]]:
    common = [("trainer.total_training_steps", smoke.steps), ("trainer.save_freq", -1), ("trainer.test_freq", -1)]
    sizes: list[tuple[str, Any]] = [("data.train_batch_size", smoke.prompts), ("trainer.resume_mode", "disable")]
    if run.algorithm == "sft":
        return common + sizes
    more: list[tuple[str, Any]] = [
        (f"{ACTOR}.ppo_mini_batch_size", smoke.prompts),
        ("data.shuffle", False),
        (f"{ROLLOUT}.ignore_eos", True),
    ]
    if run.samplers:
        more.append(("trainer.v1.separate_async.parameter_sync_step", 1))
    return common + sizes + more


def _trial_gaps() -> list[Gap]:
    says = "smoke.sh wants the longest prompts first"
    return [Gap(says, "sort TRAIN_FILES by length, longest first: verl has no key for it")]


def _checks(run: Run) -> list[str]:
    found = ['install: pip install "verl[vllm]==0.9.1" and the TransferQueue package that trainer.use_v1 needs']
    if run.algorithm == "sft":
        return ["install: pip install verl==0.9.1 with torch"]
    pools = [run.trainer, *run.samplers[:1]]
    machines = " and ".join(f"{pool.nodes} x {pool.gpus_per_node} {pool.gpu}" for pool in pools)
    return [
        *found,
        f"one Ray cluster over {machines}: ray status shows every GPU before launch.sh is started on its head",
    ]
