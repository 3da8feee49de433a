"""TRL 1.16.0: ``trl {sft,dpo,reward,grpo,distillation}`` with one flat YAML file, and accelerate's own beside it.

Layout lives in accelerate's file: FSDP2 or DeepSpeed over all GPUs of the trainer, without tensor, pipeline or expert
parallelism. The trainer's file holds no ``fsdp`` and no ``deepspeed`` key.
"""

from __future__ import annotations

from typing import Any, Final

from rlopt.launchers.exports.batches import StepBatches, batch_of
from rlopt.launchers.exports.contract import Blank, Export, Gap
from rlopt.launchers.exports.gaps import common_gaps, frozen_gaps, merged_gaps
from rlopt.launchers.exports.models import address, blanks_of, has_model
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.smoke import Smoke, smoke_of
from rlopt.launchers.exports.text import flag, script, smoke_script, yaml_text
from rlopt.launchers.trl.accelerate import accelerate

NAME: Final = "trl"
VERSION: Final = "1.16.0"
ALGORITHMS: Final = ("sft", "dpo", "rm", "grpo", "opd")
COMMANDS: Final = {"rm": "reward", "opd": "distillation"}
OPTIMIZERS: Final = {"adamw": "adamw_torch_fused", "adamw_bf16": "adamw_torch_fused", "adamw_8bit": "adamw_8bit"}

DATASET = Blank("DATASET", "the data set: a hub name or a path")
REWARD = Blank("REWARD_FUNCTION", "the reward: a name that trl knows, or the import path of a function")
SERVER = Blank("VLLM_SERVER", "the address of trl vllm-serve on the pool that samples, http and port")
SAVES = Blank("CHECKPOINT_DIR", "the folder for checkpoints", "checkpoints")
RANK = Blank("NODE_RANK", "the number of this machine, 0 for the first")
MASTER = Blank("MASTER_ADDR", "the address of the first machine")
KL: Final = 0.001
Tree = dict[str, Any]


def export(run: Run, smoke: bool) -> Export:
    """Trainer file, accelerate file, launch script, a short trial where asked for, and what they could not say."""
    batch = batch_of(run, run.trainer.gpus)
    command = COMMANDS.get(run.algorithm, run.algorithm)
    layout, gaps = accelerate(run)
    tree, blanks = _common(run, batch), [DATASET, SAVES]
    parts = [_online(run, batch)] if run.generates else [_offline(run, batch)]
    words = ['--accelerate_config "$here/accelerate.yaml"', flag("dataset_name", DATASET), flag("output_dir", SAVES)]
    for added, asked, more, missing in [*parts, _models(run)]:
        tree, blanks, words, gaps = tree | added, [*blanks, *asked], [*words, *more], [*gaps, *missing]
    if run.trainer.nodes > 1:
        blanks += [RANK, MASTER]
        words += [flag("machine_rank", RANK), flag("main_process_ip", MASTER)]
    rows = run.algorithm == "sft" and run.request.job.packing
    found = [*merged_gaps(run, ()), *gaps, *(() if rows else batch.gaps), *_gaps(run), *common_gaps(run)]
    title = f"{run.request.job.name} for TRL {VERSION}"
    main = f"{command}.yaml"
    files = {
        "launch.sh": _here(script(title, found, blanks, f'trl {command} --config "$here/{main}"', words)),
        main: yaml_text(title, found, tree),
        "accelerate.yaml": yaml_text(f"{title}, how it is spread over GPUs", [], layout),
    }
    trial = smoke_of(run, batch) if smoke else None
    if trial is not None:
        files["smoke.sh"] = smoke_script(f"a short trial of {title}", _trial(run, batch, trial))
        found += [Gap("smoke.sh wants the longest samples first", "sort DATASET by length, longest first")]
    seconds = None if trial is None else trial.seconds
    return Export(NAME, VERSION, files, tuple(found), tuple(blanks), tuple(_checks(run)), seconds)


def _here(text: str) -> str:
    """The script with ``here`` set to its own folder."""
    line = 'here=$(CDPATH=\'\' cd -- "$(dirname -- "$0")" && pwd -P)'
    return text.replace("set -euo pipefail\n", f"set -euo pipefail\n{line}\n", 1)


def _common(run: Run, batch: StepBatches) -> Tree:
    job, layout = run.request.job, run.layout
    found: Tree = {
        "dtype": "float32" if job.optimizer != "adamw_bf16" and job.trainable.kind != "lora" else "bfloat16",
        "bf16": run.made.precision.update != "fp16",
        "fp16": run.made.precision.update == "fp16",
        "per_device_train_batch_size": batch.micro_batch,
        "gradient_accumulation_steps": batch.accumulation,
        "max_steps": run.steps * run.updates * job.ppo_epochs,
        "optim": OPTIMIZERS[job.optimizer],
        # on FSDP2 accelerate's own switch does it, and both together are wrong
        "gradient_checkpointing": layout.recompute in ("full", "selective") and not accelerate_recomputes(run),
        "save_strategy": "steps",
        "save_steps": run.save_steps * run.updates * job.ppo_epochs,
        "save_total_limit": run.keep_recent,
        "logging_steps": 1,
        "report_to": "none",
        "run_name": job.name,
    }
    if job.trainable.lora_rank:
        found |= {"use_peft": True, "lora_r": job.trainable.lora_rank, "lora_alpha": job.trainable.lora_rank}
        found["lora_target_modules"] = ["all-linear"]
    if job.trainable.base == "int4":
        found["load_in_4bit"] = True
    kernels = run.made.kernels or {}
    if kernels.get("loss") == "chunked":
        found["use_liger_kernel"] = True
    if kernels.get("attention") == "plain":
        found["attn_implementation"] = "eager"
    return found


def accelerate_recomputes(run: Run) -> bool:
    """Whether accelerate's file recomputes activations."""
    return "fsdp_config" in accelerate(run)[0]


def _offline(run: Run, batch: StepBatches) -> tuple[Tree, list[Blank], list[str], list[Gap]]:
    job, gaps = run.request.job, list[Gap]()
    tree: Tree = {"max_length": run.sequence_tokens}
    if run.algorithm == "sft" and job.packing:
        tree |= {"packing": True, "packing_strategy": "bfd"}
        mean = job.prompt_tokens.mean + job.response_tokens.mean
        held = run.sequence_tokens / max(mean, 1.0)
        rows = max(1, round(batch.accumulation / held))
        tree["gradient_accumulation_steps"] = rows
        samples = rows * batch.micro_batch * batch.ranks * held
        says = f"TRL counts packed rows, {held:.1f} sequences each on average: {rows} rows in turn are written"
        gaps.append(Gap(says, f"a step has about {samples:,.0f} sequences, {run.prompts:,} in the plan", True))
    elif run.algorithm == "dpo":
        tree["padding_free"] = job.packing
        tree["precompute_ref_log_probs"] = (run.made.data or {}).get("log_probs") == "stored"
    elif run.algorithm == "rm" and job.packing:
        gaps.append(Gap("pairs are packed", "TRL pads each batch to its longest: updates take longer", True))
    return tree, [], [], gaps


def _online(run: Run, batch: StepBatches) -> tuple[Tree, list[Blank], list[str], list[Gap]]:
    job, pool = run.request.job, run.samplers[0] if run.samplers else run.trainer
    blanks, words, gaps = list[Blank](), list[str](), list[Gap]()
    tree: Tree = {
        "max_completion_length": run.response_tokens,
        "vllm_max_model_length": run.sequence_tokens,
        "use_vllm": True,
        "vllm_mode": "server" if run.samplers else "colocate",
        "log_completions": False,
    }
    if run.algorithm == "grpo":
        tree |= {"num_generations": run.group, "num_iterations": job.ppo_epochs}
        tree["beta"] = KL if has_model(run, "reference") else 0.0
        if tree["beta"]:
            says = (
                f"no KL coefficient is part of a plan; at TRL's default of 0 no reference is loaded, so {KL} is written"
            )
            gaps.append(Gap(says, "set beta to yours"))
        if run.updates > 1:
            tree["steps_per_generation"] = batch.accumulation * run.updates
    elif run.group > 1:
        says = f"{run.group} responses to each prompt; TRL's distillation samples one"
        gaps.append(Gap(says, "the step has as many samples, of more prompts: have enough of them"))
    if run.samplers:
        words.append(flag("vllm_server_base_url", SERVER))
        blanks.append(SERVER)
        gaps += _server_gaps(run)
    else:
        tree |= {"vllm_tensor_parallel_size": run.engine_tp(pool), "vllm_enable_sleep_mode": True}
        fraction = run.engine_fraction(pool)
        if fraction is not None:
            tree["vllm_gpu_memory_utilization"] = fraction
        if run.made.precision.rollout not in ("bf16", None):
            says = f"samples are generated in {run.made.precision.rollout}; a colocated engine takes no such argument"
            gaps.append(Gap(says, "it runs in the model's own type: plan with precision.rollout: [bf16]", True))
        if run.engine_ep(pool) > 1:
            gaps.append(Gap("the engine spreads experts", "TRL has no key for it: raise its tensor parallelism", True))
    gaps.append(Gap(f"prompts have at most {run.prompt_tokens} tokens", "drop longer ones: TRL has no key for it"))
    if job.packing:
        gaps.append(Gap("sequences are packed", "TRL pads each batch to its longest: updates take longer", True))
    if job.environment is not None:
        gaps.append(
            Gap("the policy calls tools", "give them in Python (tools, environment_factory): no command line", True)
        )
    return tree, blanks, words, gaps


def _server_gaps(run: Run) -> list[Gap]:
    found, pool = list[Gap](), run.samplers[0]
    tp, fraction = run.engine_tp(pool), run.engine_fraction(pool)
    kind = run.made.precision.rollout
    serve = f"trl vllm-serve --tensor_parallel_size {tp} --data_parallel_size {max(1, pool.gpus // tp)}"
    serve += f" --max_model_len {run.sequence_tokens}"
    serve += "" if fraction is None else f" --gpu_memory_utilization {fraction}"
    found.append(Gap(f"pool {pool.name} samples", f"start there: {serve} --model (the policy)"))
    if kind not in ("bf16", None):
        found.append(
            Gap(f"samples are generated in {kind}", "trl vllm-serve has bf16: plan with rollout: [bf16]", True)
        )
    if run.made.staleness:
        says = f"sampling runs ahead by {run.made.staleness} step(s)"
        do = (
            "in server mode one waits for the other: a step takes the sum of both; trl.experimental.async_grpo overlaps"
        )
        found.append(Gap(says, do, True))
    for other in run.samplers[1:]:
        says = f"pool {other.name} ({other.gpus} x {other.gpu}) samples {other.share or 0.0:.0%} beside {pool.name}"
        found.append(Gap(says, "TRL has one server: leave it out, or plan without mixed pools", True))
    return found


def _models(run: Run) -> tuple[Tree, list[Blank], list[str], list[Gap]]:
    tree: Tree = {}
    blanks, words, gaps = list[Blank](), list[str](), list[Gap]()
    roles = {"model_name_or_path": "policy"}
    if run.algorithm == "grpo" and has_model(run, "reward"):
        roles["reward_model_name_or_path"] = "reward"
    if run.algorithm == "opd":
        roles["teacher_model_name_or_path"] = "teacher"
    for key, role in roles.items():
        found = address(run, role)
        if isinstance(found, Blank):
            words.append(flag(key, found))
            blanks += blanks_of(found)
        else:
            tree[key] = found
    if run.algorithm == "grpo" and not has_model(run, "reward"):
        words.append(flag("reward_funcs", REWARD))
        blanks.append(REWARD)
    for pool in run.scorers:
        says = f"pool {pool.name} ({pool.gpus} x {pool.gpu}) serves {', '.join(pool.serves)}"
        gaps.append(
            Gap(says, "TRL holds every model in the training processes: more memory there, that pool idle", True)
        )
    return tree, blanks, words, gaps


def _gaps(run: Run) -> list[Gap]:
    found = []
    if run.layout.recompute == "selective":
        says = "activations are recomputed selectively; here all or none are"
        found.append(Gap(says, "all are recomputed: less memory, updates about a third longer", True))
    if run.made.precision.update not in ("bf16", "fp16"):
        found.append(Gap(f"updates run in {run.made.precision.update}", "TRL trains in bf16", True))
    return [*found, *frozen_gaps(run)]


def _trial(run: Run, batch: StepBatches, smoke: Smoke) -> list[str]:
    size = smoke.prompts * run.group // (batch.ranks * batch.micro_batch)
    words = [("max_steps", smoke.steps), ("save_strategy", "no"), ("gradient_accumulation_steps", size)]
    found = [flag(name, value) for name, value in words]
    if run.updates > 1 and run.algorithm == "grpo":
        found.append(flag("steps_per_generation", size))
    if run.generates:
        found.append(flag("generation_kwargs", '{"ignore_eos": true}'))
    if run.algorithm == "sft":
        found.append(flag("shuffle_dataset", "false"))
    return found


def _checks(run: Run) -> list[str]:
    found = [f"install: pip install trl=={VERSION} accelerate==1.15.0" + (" vllm" if run.generates else "")]
    if "deepspeed_config" in accelerate(run)[0]:
        found.append("install: deepspeed, since the optimizer is offloaded or sharded without the weights")
    found.append("after a stop: launch.sh --resume_from_checkpoint true")
    if run.trainer.nodes > 1:
        found.append(f"launch.sh runs on each of the {run.trainer.nodes} machines with its own NODE_RANK")
    return found
