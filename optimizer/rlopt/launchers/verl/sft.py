"""verl's supervised trainer: ``torchrun -m verl.trainer.sft_trainer`` with the tree sft_trainer_engine."""

from __future__ import annotations

from typing import Any

from rlopt.launchers.exports.batches import StepBatches
from rlopt.launchers.exports.contract import Blank, Gap
from rlopt.launchers.exports.models import address, blanks_of
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.text import under
from rlopt.launchers.verl.engine import VerlBackend

TRAIN = Blank("TRAIN_FILES", "the parquet files with the messages to train on")
SAVES = Blank("CHECKPOINT_DIR", "the folder for checkpoints", "checkpoints")
RANK = Blank("NODE_RANK", "the number of this machine, 0 for the first")
MASTER = Blank("MASTER_ADDR", "the address of the first machine")


def command(run: Run) -> str:
    """The command before the overrides, one process per GPU."""
    nodes, each = run.trainer.nodes, run.trainer.gpus_per_node
    where = (
        "--nnodes=1 --standalone"
        if nodes == 1
        else (f'--nnodes={nodes} --node-rank="$NODE_RANK" --master-addr="$MASTER_ADDR" --master-port=29500')
    )
    return f"torchrun {where} --nproc-per-node={each} -m verl.trainer.sft_trainer"


def settings(run: Run, engine: VerlBackend, batch: StepBatches) -> tuple[dict[str, Any], list[Blank], list[Gap]]:
    """Overrides, blanks and gaps."""
    job, policy = run.request.job, address(run, "policy")
    renamed = {"actor_rollout_ref.model.": "model.", "actor_rollout_ref.actor.optim.": "optim."}
    found: dict[str, Any] = {} if engine.fsdp else {"engine": "megatron", "optim": "megatron"}
    found |= {
        "data.train_files": TRAIN,
        "data.train_batch_size": batch.prompts // run.updates,
        "data.micro_batch_size_per_gpu": batch.micro_batch,
        "data.use_dynamic_bsz": job.packing,
        "data.max_token_len_per_gpu": run.budget_tokens(run.degree("cp")),
        "data.pad_mode": "no_padding",
        "data.max_length": run.sequence_tokens,
        "data.truncation": "right",
        "model.path": policy,
        "model.use_remove_padding": job.packing,
    }
    for key, value in engine.settings.items():
        for old, new in renamed.items():
            if old in key:
                found[key.replace(old, new)] = value
    if engine.fsdp:
        found["engine.strategy"] = "fsdp2"
    found |= {under("engine.", key): value for key, value in engine.body.items()}
    found |= {
        "trainer.total_epochs": 100_000,
        "trainer.total_training_steps": run.steps * run.offline_updates,
        "trainer.save_freq": run.save_steps * run.offline_updates,
        "trainer.max_ckpt_to_keep": run.keep_recent,
        "trainer.resume_mode": "auto",
        "trainer.nnodes": run.trainer.nodes,
        "trainer.n_gpus_per_node": run.trainer.gpus_per_node,
        "trainer.project_name": job.tags.get("project", "rlopt"),
        "trainer.experiment_name": job.name,
        "trainer.default_local_dir": SAVES,
        "trainer.logger": ["console"],
    }
    blanks = [TRAIN, SAVES, *blanks_of(policy), *([RANK, MASTER] if run.trainer.nodes > 1 else [])]
    gaps = [Gap("longer samples are cut at the end (data.truncation)", "filter them before, if they shall be left out")]
    if not job.packing:
        gaps.append(Gap("sequences are padded to the longest", "verl's sft trainer packs: less time than planned"))
    return found, blanks, gaps
