"""NeMo-RL's rollout engine, and which machines it has."""

from __future__ import annotations

from typing import Any

from rlopt.launchers.exports.batches import StepBatches
from rlopt.launchers.exports.contract import Blank, Gap
from rlopt.launchers.exports.run import Run
from rlopt.launchers.nemo_rl.engine import NemoRlBackend

GENERATION = "policy.generation."


def pools(run: Run, batch: StepBatches, engine: NemoRlBackend) -> tuple[dict[str, Any], list[Blank], list[Gap]]:
    """Settings of engine, placement and staleness."""
    pool, gaps = run.samplers[0] if run.samplers else run.trainer, list[Gap]()
    low = run.made.precision.rollout
    found: dict[str, Any] = {
        f"{GENERATION}backend": "vllm",
        f"{GENERATION}vllm_cfg.tensor_parallel_size": run.engine_tp(pool),
        f"{GENERATION}vllm_cfg.expert_parallel_size": run.engine_ep(pool),
        f"{GENERATION}vllm_cfg.max_model_len": run.sequence_tokens,
        f"{GENERATION}colocated.enabled": run.colocated,
    }
    fraction = run.engine_fraction(pool)
    if fraction is not None:
        found[f"{GENERATION}vllm_cfg.gpu_memory_utilization"] = fraction
    if low == "fp8":
        found[f"{GENERATION}vllm_cfg.precision"] = "fp8"
        found["loss_fn.use_importance_sampling_correction"] = True
    elif low not in ("bf16", None):
        gaps.append(Gap(f"samples are generated in {low}", "the engine runs in bf16 here", True))
    if run.algorithm == "opd":
        found.pop("loss_fn.use_importance_sampling_correction", None)
    if run.samplers:
        added, missing = _apart(run)
        found, gaps = found | added, [*gaps, *missing]
    for other in run.scorers:
        says = f"pool {other.name} ({other.gpus} x {other.gpu}) serves {', '.join(other.serves)}"
        gaps.append(Gap(says, "these score on the training machines here: more memory there, that pool idle", True))
    return found, [], gaps


def _apart(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    trainer, pool, gaps = run.trainer, run.samplers[0], list[Gap]()
    each = trainer.gpus_per_node
    nodes = -(-pool.gpus // each)
    if pool.gpus_per_node != each:
        says = f"{pool.name} has machines of {pool.gpus_per_node} GPUs, {trainer.name} of {each}"
        do = f"a cluster has machines of one size: {nodes} of {each} are written; plan with machines of one size"
        gaps.append(Gap(says, do, True))
    found: dict[str, Any] = {
        "cluster.num_nodes": trainer.nodes + nodes,
        f"{GENERATION}colocated.resources.num_nodes": nodes,
        f"{GENERATION}colocated.resources.gpus_per_node": each,
    }
    if run.made.staleness and run.algorithm in ("grpo", "ppo"):
        room = f"{run.algorithm}.async_{run.algorithm}."
        found |= {
            f"{room}enabled": True,
            f"{room}max_trajectory_age_steps": run.made.staleness,
            f"{GENERATION}vllm_cfg.async_engine": True,
            "loss_fn.use_importance_sampling_correction": True,
        }
    elif run.made.staleness:
        says = f"sampling runs ahead by {run.made.staleness} step(s)"
        gaps.append(Gap(says, "distillation waits here: a step takes the sum of both", True))
    for other in run.samplers[1:]:
        says = f"pool {other.name} ({other.gpus} x {other.gpu}) samples {other.share or 0.0:.0%} beside {pool.name}"
        gaps.append(Gap(says, "engines have one shape: leave it out, or plan without mixed pools", True))
    return found, gaps
