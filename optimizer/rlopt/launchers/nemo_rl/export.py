"""NeMo-RL (main of 2026-08-22): ``uv run examples/run_*.py --config BASE key=value`` in a checkout of its repository.

An export is overrides on a shipped base, since an unknown key is an error there and would pass in a file of one's own.
"""

from __future__ import annotations

from typing import Any, Final

from rlopt.launchers.exports.batches import StepBatches, batch_of
from rlopt.launchers.exports.contract import Blank, Export, Gap
from rlopt.launchers.exports.gaps import common_gaps
from rlopt.launchers.exports.models import address, blanks_of, has_model
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.smoke import Smoke, smoke_of
from rlopt.launchers.exports.text import override, script, smoke_script, under
from rlopt.launchers.nemo_rl.engine import NemoRlBackend, engine_of
from rlopt.launchers.nemo_rl.pools import pools

NAME: Final = "nemo-rl"
VERSION: Final = "main of 2026-08-22"
COMMIT: Final = "7ea279abfbeb698b092856d0dab61e7cf39bc909"
ALGORITHMS: Final = ("sft", "dpo", "rm", "ppo", "grpo", "opd")
SECTIONS: Final = {"opd": "distillation"}
"""Section of an algorithm in its file where the name differs."""
BASES: Final = {"grpo": "grpo_math_1B", "ppo": "ppo_math_1B", "opd": "distillation_math"}
"""Bases with a Megatron twin; sft, dpo and rm have one file for both engines."""
DATASETS: Final = {"dpo": "BinaryPreferenceDataset", "rm": "BinaryPreferenceDataset"}
Settings = dict[str, Any]

CHECKOUT = Blank("NEMO_RL", f"the folder of a NeMo-RL checkout, commit {COMMIT[:12]}")
DATASET = Blank("DATASET", "the JSONL file to train on, an absolute path")
SAVES = Blank("CHECKPOINT_DIR", "the folder for checkpoints, an absolute path")


def export(run: Run, smoke: bool) -> Export:
    """The launch script, a short trial where asked for, and what they could not say."""
    engine = engine_of(run)
    batch = batch_of(run, engine.ranks)
    section = SECTIONS.get(run.algorithm, run.algorithm)
    settings = _common(run, batch, section) | engine.settings
    blanks, gaps = [CHECKOUT, DATASET, SAVES, *blanks_of(address(run, "policy"))], [*engine.gaps, *batch.gaps]
    if run.generates:
        for part in (_online, pools):
            added, asked, missing = part(run, batch, engine)
            settings, blanks, gaps = settings | added, [*blanks, *asked], [*gaps, *missing]
    else:
        gaps += _offline_gaps(run)
    found = [*gaps, *common_gaps(run)]
    title = f"{run.request.job.name} for NeMo-RL, {VERSION}"
    base = BASES.get(run.algorithm, section) + ("_megatron" if engine.megatron and run.generates else "")
    command = f"uv run examples/run_{section}.py --config examples/configs/{base}.yaml"
    words = [override(key, value) for key, value in settings.items()]
    text = script(title, found, blanks, command, words).replace("exec uv", 'cd "$NEMO_RL"\nexec uv', 1)
    files = {"launch.sh": text}
    trial = smoke_of(run, batch) if smoke else None
    if trial is not None:
        files["smoke.sh"] = smoke_script(
            f"a short trial of {title}", [override(*one) for one in _trial(run, trial, section)]
        )
        found += _trial_gaps(run)
    seconds = None if trial is None else trial.seconds
    return Export(NAME, VERSION, files, tuple(found), tuple(dict.fromkeys(blanks)), tuple(_checks(run)), seconds)


def _common(run: Run, batch: StepBatches, section: str) -> Settings:
    evaluation = run.request.job.evaluation
    found: Settings = {
        f"{section}.max_num_steps": run.steps * run.offline_updates,
        f"{section}.max_num_epochs": 100_000,
        f"{section}.val_period": evaluation.every * run.offline_updates if evaluation is not None else 0,
        f"{section}.val_at_start": False,
        "policy.model_name": address(run, "policy"),
        "policy.tokenizer.name": address(run, "policy"),
        "policy.max_total_sequence_length": run.sequence_tokens,
        "policy.train_global_batch_size": batch.prompts * run.group // run.updates,
        "policy.train_micro_batch_size": batch.micro_batch,
        "policy.precision": "float16" if run.made.precision.update == "fp16" else "bfloat16",
        "data.max_input_seq_length": run.prompt_tokens if run.generates else run.sequence_tokens,
        "data.train.dataset_name": DATASETS.get(run.algorithm, "ResponseDataset"),
        "++data.train.data_path": DATASET,
        "data.validation": None,
        "checkpointing.enabled": True,
        "checkpointing.checkpoint_dir": SAVES,
        "checkpointing.save_period": run.save_steps * run.offline_updates,
        "checkpointing.keep_top_k": run.keep_recent,
        "checkpointing.metric_name": None,
        "checkpointing.save_optimizer": True,
        "cluster.num_nodes": run.trainer.nodes,
        "cluster.gpus_per_node": run.trainer.gpus_per_node,
    }
    if run.algorithm in ("sft", "grpo", "ppo", "opd"):
        found["policy.sequence_packing.enabled"] = run.request.job.packing
    return found


def _online(run: Run, batch: StepBatches, engine: NemoRlBackend) -> tuple[Settings, list[Blank], list[Gap]]:
    section, gaps, blanks = SECTIONS.get(run.algorithm, run.algorithm), list[Gap](), list[Blank]()
    found: Settings = {
        f"{section}.num_prompts_per_step": batch.prompts,
        f"{section}.num_generations_per_prompt": run.group,
        "policy.logprob_batch_size": batch.micro_batch,
        "policy.generation.max_new_tokens": run.response_tokens,
    }
    if run.algorithm in ("grpo", "ppo"):
        reference = has_model(run, "reference")
        if not reference:
            found["loss_fn.reference_policy_kl_penalty"] = 0
        found[f"++{section}.skip_reference_policy_logprobs_calculation"] = not reference
        if reference and run.algorithm == "ppo":
            found["loss_fn.reference_policy_kl_penalty"] = 0.01
            gaps.append(
                Gap("no KL coefficient is part of a plan", "0.01 is written so that the reference scores: set yours")
            )
    if run.algorithm == "ppo":
        critic = address(run, "critic")
        found |= {"ppo.ppo_epochs": run.request.job.ppo_epochs, "value.model_name": critic}
        found |= {under("value.", key): value for key, value in engine.body.items()}
        blanks += blanks_of(critic)
    elif run.request.job.ppo_epochs > 1:
        says = f"{run.request.job.ppo_epochs} passes over the same samples"
        gaps.append(Gap(says, "NeMo-RL makes one: updates are shorter than planned", True))
    if run.algorithm == "opd":
        teacher = address(run, "teacher")
        found |= {"teacher.model_name": teacher, "teacher.tokenizer.name": teacher}
        found |= {
            "teacher.max_total_sequence_length": run.sequence_tokens,
            "teacher.train_micro_batch_size": batch.micro_batch,
            "teacher.logprob_batch_size": batch.micro_batch,
        }
        found |= {under("teacher.", key): value for key, value in engine.body.items()}
        blanks += blanks_of(teacher)
    gaps += _reward_gaps(run)
    if run.request.job.environment is not None:
        gaps.append(Gap("the policy calls tools", "write them as an environment: env and data.default.env_name", True))
        if (calls := run.request.job.environment.calls_per_sample) is not None:
            found[f"{section}.max_rollout_turns"] = calls.max + 1
    return found, blanks, gaps


def _reward_gaps(run: Run) -> list[Gap]:
    """What scores the samples: the launcher's base knows a program for mathematics alone."""
    if has_model(run, "reward"):
        model = address(run, "reward")
        pool = next((one for one in run.scorers if "reward" in one.serves), None)
        says = f"a reward model ({model if isinstance(model, str) else model.what})"
        where = "machines of its own" if pool else "machines that this plan does not have: NeMo-RL gives it its own"
        do = f"add the part env.reward_model of examples/configs/grpo_rm_1B.yaml; it needs {where}"
        return [Gap(says, do, pool is None)]
    if run.algorithm in ("grpo", "ppo"):
        says = "a program scores; the base has its environment for mathematics"
        return [Gap(says, "set data.default.env_name and env to yours")]
    return []


def _offline_gaps(run: Run) -> list[Gap]:
    found = []
    if run.algorithm == "dpo" and (run.made.data or {}).get("log_probs") == "stored":
        says = "the reference scores each pair once, before training; NeMo-RL scores in every step"
        found.append(Gap(says, "the reference takes memory and time in each step", True))
    if run.algorithm in ("dpo", "rm") and run.request.job.packing:
        found.append(Gap("pairs are packed", "NeMo-RL pads them here: updates take longer", True))
    return found


def _trial(run: Run, smoke: Smoke, section: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [
        (f"{section}.max_num_steps", smoke.steps),
        ("checkpointing.enabled", False),
        ("policy.train_global_batch_size", smoke.prompts * run.group),
        ("data.shuffle", False),
    ]
    if run.generates:
        found += [(f"{section}.num_prompts_per_step", smoke.prompts), ("++policy.generation.ignore_eos", True)]
    return found


def _trial_gaps(run: Run) -> list[Gap]:
    return [Gap("smoke.sh wants the longest samples first", "sort DATASET by length, longest first")]


def _checks(run: Run) -> list[str]:
    found = [f"NEMO_RL is a checkout with submodules at commit {COMMIT}; uv sync has run in it"]
    nodes = run.trainer.nodes + sum(pool.nodes for pool in run.samplers)
    if nodes > 1:
        found.append(f"a Ray cluster over all {nodes} machines: ray status shows every GPU before launch.sh is started")
    found.append("the columns of DATASET: data.train.input_key and output_key are the launcher's own defaults")
    return found
