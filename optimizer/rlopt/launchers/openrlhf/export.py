"""OpenRLHF 0.11.2: ``openrlhf.cli.train_ppo_ray`` (ppo, grpo) and ``train_{sft,dpo,rm}`` under deepspeed.

Flags are dotted, training is DeepSpeed's ZeRO: tensor and ring-attention parallelism, no pipelines, no experts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from rlopt.launchers.exports.batches import StepBatches, batch_of
from rlopt.launchers.exports.contract import Blank, Export, Gap
from rlopt.launchers.exports.gaps import common_gaps, frozen_gaps, merged_gaps, merges
from rlopt.launchers.exports.models import address, blanks_of, has_model
from rlopt.launchers.exports.run import PAIRED, Run
from rlopt.launchers.exports.smoke import Smoke, smoke_of
from rlopt.launchers.exports.text import flag, script, smoke_script
from rlopt.launchers.openrlhf.pools import pools
from rlopt.words import Sharding

NAME: Final = "openrlhf"
VERSION: Final = "0.11.2"
ALGORITHMS: Final = ("sft", "dpo", "rm", "ppo", "grpo")
KEPT: Final = ("tp", "cp")
"""Degrees that it knows; the others' GPUs become data-parallel ranks of ZeRO-3."""
STAGES: Final[Mapping[str, int]] = {sharding: max(sharding.code, 1) for sharding in Sharding}
SHORT: Final = 0.05
"""Part of a pass over the data set that may be missing at the end."""
Flags = list[tuple[str, Any]]

DATASET = Blank("DATASET", "the data set: a hub name or a path")
REWARD = Blank("REWARD_FILE", "the Python file or HTTP address that gives the reward")
AGENT = Blank("AGENT_FILE", "the Python file of the agent that calls the tools")
SAVES = Blank("CHECKPOINT_DIR", "the folder for checkpoints", "checkpoints")
HOSTFILE = Blank("HOSTFILE", "deepspeed's host file, one line per machine")


def export(run: Run, smoke: bool) -> Export:
    """The launch script, a short trial where asked for, and what they could not say."""
    online = run.algorithm in ("ppo", "grpo")
    merged = merges(run, KEPT)
    ranks = run.trainer.gpus // (run.degree("tp") * run.degree("cp"))
    batch = batch_of(run, ranks, whole=not (online and run.request.job.packing))
    prefix = "actor" if online else "model"
    flags, gaps, blanks = _common(run, batch, prefix, merged), [*merged_gaps(run, KEPT), *_gaps(run)], [DATASET, SAVES]
    if online:
        more, asked, missing = _online(run, batch)
    else:
        more, asked, missing = _offline(run, batch)
    blanks, gaps = [*blanks, *asked], [*gaps, *missing]
    found = [*gaps, *batch.gaps, *common_gaps(run)]
    title = f"{run.request.job.name} for OpenRLHF {VERSION}"
    words = [flag(name, value) for name, value in [*flags, *more]]
    files = {"launch.sh": script(title, found, blanks, _command(run), words)}
    trial = smoke_of(run, batch) if smoke else None
    if trial is not None:
        files["smoke.sh"] = smoke_script(f"a short trial of {title}", _trial(run, trial, online))
        found += _trial_gaps(online)
    seconds = None if trial is None else trial.seconds
    return Export(NAME, VERSION, files, tuple(found), tuple(blanks), tuple(_checks(run, online)), seconds)


def _command(run: Run) -> str:
    if run.algorithm in ("ppo", "grpo"):
        return "python3 -m openrlhf.cli.train_ppo_ray"
    nodes, each = run.trainer.nodes, run.trainer.gpus_per_node
    where = f"--num_gpus {each}" if nodes == 1 else f'--hostfile "$HOSTFILE" --num_nodes {nodes} --num_gpus {each}'
    return f"deepspeed {where} --module openrlhf.cli.train_{run.algorithm}"


def _common(run: Run, batch: StepBatches, prefix: str, merged: bool) -> Flags:
    job, kernels, layout = run.request.job, run.made.kernels or {}, run.layout
    found: Flags = [
        (f"{prefix}.model_name_or_path", address(run, "policy")),
        ("train.batch_size", batch.prompts * run.group // run.updates),
        ("train.micro_batch_size", batch.micro_batch),
        ("data.max_len", run.sequence_tokens),
        ("ds.zero_stage", 3 if merged else STAGES[layout.sharding or "zero3"]),
        ("ds.param_dtype", "fp16" if run.made.precision.update == "fp16" else "bf16"),
        ("ckpt.path", SAVES),
        ("ckpt.output_dir", SAVES),
        ("ckpt.save_steps", run.save_steps * run.offline_updates),
        ("ckpt.max_num", run.keep_recent),
        ("ckpt.load_enable", True),
        ("logger.logging_steps", 1),
    ]
    if run.degree("tp") > 1:
        found.append(("ds.tensor_parallel_size", run.degree("tp")))
    if run.degree("cp") > 1:
        found.append(("ds.ring_attn_size", run.degree("cp")))
    switches = {
        "ds.packing_samples": job.packing,
        "ds.adam_offload": layout.offload in ("optimizer", "parameters"),
        f"{prefix}.gradient_checkpointing_enable": layout.recompute in ("full", "selective"),
        "ds.use_liger_kernel": kernels.get("loss") == "chunked" and run.algorithm != "rm",
        "ds.load_in_4bit": job.trainable.base == "int4",
        "actor.freeze_visual_encoder": prefix == "actor" and "vision" in job.trainable.frozen,
    }
    found += [(name, True) for name, on in switches.items() if on]
    if kernels.get("attention") == "plain" and not job.packing:
        found.append(("ds.attn_implementation", "eager"))
    if job.trainable.lora_rank:
        found += [("ds.lora.rank", job.trainable.lora_rank), ("ds.lora.alpha", job.trainable.lora_rank)]
    return found


def _gaps(run: Run) -> list[Gap]:
    layout, found = run.layout, list[Gap]()
    if layout.offload == "parameters":
        found.append(Gap("parameters leave the GPU too", "OpenRLHF offloads the optimizer alone: more memory", True))
    if layout.recompute == "selective":
        says = "activations are recomputed selectively; OpenRLHF recomputes all or none"
        found.append(Gap(says, "all are recomputed: less memory, updates about a third longer", True))
    if run.request.job.optimizer != "adamw":
        says = f"the optimizer is {run.request.job.optimizer}; OpenRLHF has Adam with fp32 states"
        found.append(Gap(says, "its states take more memory: plan with optimizer: adamw", True))
    if run.made.precision.update not in ("bf16", "fp16"):
        found.append(Gap(f"updates run in {run.made.precision.update}", "OpenRLHF trains in bf16", True))
    online = run.algorithm in ("ppo", "grpo")
    return [*found, *frozen_gaps(run, *(("vision",) if online else ()))]


def _samples(run: Run, batch: StepBatches) -> tuple[int, int]:
    """Samples to take of the data set and passes over them: OpenRLHF counts no steps.

    A last step that the data set cannot fill (ceil of epochs) does not cost another pass.
    """
    needed, there = batch.prompts * run.steps, run.request.job.dataset_samples
    if there is None or there >= needed:
        return needed, 1
    passes = max(1, math.ceil(needed / there - SHORT))
    return min(there, batch.prompts * math.ceil(run.steps / passes)), passes


def _steps_gap(run: Run, batch: StepBatches, what: str) -> Gap:
    samples, passes = _samples(run, batch)
    steps = samples // batch.prompts * passes
    times = "" if passes == 1 else f", {passes} times"
    says = f"{run.steps:,} steps are not a flag: {samples:,} {what}{times}, stand in and make {steps:,} steps"
    return Gap(says, f"have at least {samples:,} {what}")


def _online(run: Run, batch: StepBatches) -> tuple[Flags, list[Blank], list[Gap]]:
    job = run.request.job
    samples, episodes = _samples(run, batch)
    reference = has_model(run, "reference")
    found: Flags = [
        ("data.prompt_dataset", DATASET),
        ("data.max_samples", samples),
        ("train.num_episodes", episodes),
        ("train.max_epochs", job.ppo_epochs),
        ("rollout.batch_size", batch.prompts),
        ("rollout.n_samples_per_prompt", run.group),
        ("rollout.micro_batch_size", batch.micro_batch),
        ("rollout.max_new_tokens", run.response_tokens),
        ("algo.advantage.estimator", "gae" if run.algorithm == "ppo" else "group_norm"),
    ]
    if job.packing:
        budget = run.budget_tokens(run.degree("cp") * run.degree("tp"))
        found += [("train.dynamic_batch_enable", True), ("train.max_tokens_per_gpu", budget)]
        found.append(("rollout.max_tokens_per_gpu", budget))
    if not reference:
        found.append(("algo.kl.init_coef", 0))
    elif run.algorithm == "grpo":
        found += [("algo.kl.use_loss", True), ("algo.kl.estimator", "k3")]
    blanks, policy = blanks_of(address(run, "policy")), run.algorithm == "ppo"
    if policy:
        critic = address(run, "critic")
        found.append(("critic.model_name_or_path", critic))
        blanks += blanks_of(critic)
    if has_model(run, "reward"):
        reward = address(run, "reward")
        found.append(("reward.model_name_or_path", reward))
        blanks += blanks_of(reward)
    else:
        found.append(("reward.remote_url", REWARD))
        blanks.append(REWARD)
    if job.environment is not None:
        found.append(("train.agent_func_path", AGENT))
        blanks.append(AGENT)
    flags, gaps = pools(run)
    says = f"prompts have at most {run.prompt_tokens} tokens; data.max_len counts prompt and response together"
    gaps.append(Gap(says, "drop longer prompts from the data set"))
    gaps.append(_steps_gap(run, batch, "prompts"))
    return [*found, *flags], list(dict.fromkeys(blanks)), gaps


def _offline(run: Run, batch: StepBatches) -> tuple[Flags, list[Blank], list[Gap]]:
    samples, epochs = _samples(run, batch)
    found: Flags = [("data.dataset", DATASET), ("data.max_samples", samples), ("train.max_epochs", epochs)]
    blanks, gaps = blanks_of(address(run, "policy")), list[Gap]()
    if run.trainer.nodes > 1:
        blanks.append(HOSTFILE)
    if run.algorithm == "dpo":
        reference = address(run, "reference")
        found.append(("ref.model_name_or_path", reference))
        blanks += blanks_of(reference)
        if (run.made.data or {}).get("log_probs") == "stored":
            found.append(("ref.offload", True))
            says = "the reference scores each pair once, before training; OpenRLHF scores in every step"
            gaps.append(Gap(says, "the reference stays in host memory and every step takes longer", True))
    if run.request.job.packing:
        says = f"micro-batches are filled to {run.micro_batch * run.sequence_tokens:,} tokens; here they count samples"
        gaps.append(Gap(says, "samples shorter than the longest leave memory unused: updates take longer", True))
    what = "pairs" if run.algorithm in PAIRED else "sequences"
    gaps.append(_steps_gap(run, batch, what))
    return found, blanks, gaps


def _trial(run: Run, smoke: Smoke, online: bool) -> list[str]:
    samples = smoke.prompts * smoke.steps
    words: Flags = [("data.max_samples", samples), ("ckpt.save_steps", -1), ("train.max_epochs", 1)]
    words.append(("train.batch_size", smoke.prompts * run.group))
    if online:
        words += [("rollout.batch_size", smoke.prompts), ("train.num_episodes", 1)]
    return [
        *(flag(name, value) for name, value in words),
        '--ckpt.path "$(mktemp -d)"',
        '--ckpt.output_dir "$(mktemp -d)"',
    ]


def _trial_gaps(online: bool) -> list[Gap]:
    found = [Gap("smoke.sh wants the longest samples first", "sort DATASET by length, longest first")]
    if online:
        says = "smoke.sh wants every response at its longest; OpenRLHF has no flag for it"
        found.append(Gap(says, "take prompts whose answers run long: see that lengths reach the maximum"))
    return found


def _checks(run: Run, online: bool) -> list[str]:
    found = [
        f"install: pip install openrlhf[vllm]=={VERSION}" if online else f"install: pip install openrlhf=={VERSION}"
    ]
    if online:
        found.append(
            "a Ray cluster over all machines: ray status shows every GPU before launch.sh is started on its head"
        )
    if run.degree("tp") > 1:
        found.append("DeepSpeed's tensor parallelism is told of few model families: try yours with smoke.sh")
    return found
