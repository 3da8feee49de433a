"""Which GPUs OpenRLHF gives to which of its models, and its rollout engines."""

from __future__ import annotations

from typing import Any

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.models import has_model
from rlopt.launchers.exports.run import Run


def pools(run: Run) -> tuple[list[tuple[str, Any]], list[Gap]]:
    """Flags of GPUs, engines and placement."""
    trainer, sampler = run.trainer, run.samplers[0] if run.samplers else run.trainer
    gaps, found = list[Gap](), list[tuple[str, Any]]()
    names = ["actor"]
    names += ["ref"] if has_model(run, "reference") else []
    names += ["critic"] if run.algorithm == "ppo" else []
    names += ["reward"] if has_model(run, "reward") else []
    for name in names:
        pool = _scorer(run, name) or trainer
        found += [(f"{name}.num_nodes", pool.nodes), (f"{name}.num_gpus_per_node", pool.gpus_per_node)]
    tp, fraction = run.engine_tp(sampler), run.engine_fraction(sampler)
    found += [("vllm.num_engines", max(1, sampler.gpus // tp)), ("vllm.tensor_parallel_size", tp)]
    if fraction is not None:
        found.append(("vllm.gpu_memory_utilization", fraction))
    if run.colocated:
        found += [("train.colocate_all", True), ("vllm.enable_sleep", True), ("ds.enable_sleep", True)]
    elif run.made.staleness > 0:
        found += [
            ("train.colocate_all", True),
            ("train.async_enable", True),
            ("train.async_queue_size", run.made.staleness),
            ("algo.advantage.is_correction_level", "token"),
        ]
    else:
        found += [("train.colocate_actor_ref", True), ("train.colocate_critic_reward", True)]
        if len(names) > 2 and not run.scorers:
            says = f"{' and '.join(names[2:])} share the trainer's GPUs; OpenRLHF gives them machines of their own here"
            gaps.append(Gap(says, "rent as many GPUs again, or choose placements: [colocated, async]", True))
    if run.scorers and (run.colocated or run.made.staleness > 0):
        says = f"pool {run.scorers[0].name} scores on machines of its own; train.colocate_all puts all models together"
        gaps.append(Gap(says, "leave that pool out, or export to nemo-rl or verl", True))
    if run.engine_ep(sampler) > 1:
        says = f"the engine spreads experts over {run.engine_ep(sampler)} GPUs; OpenRLHF has no flag for it"
        gaps.append(Gap(says, "raise vllm.tensor_parallel_size until the weights fit", True))
    if run.made.precision.rollout not in ("bf16", None):
        says = f"samples are generated in {run.made.precision.rollout}; OpenRLHF opens its engines in bf16"
        gaps.append(Gap(says, "weights take more of the card: plan with precision.rollout: [bf16]", True))
    for other in run.samplers[1:]:
        says = f"pool {other.name} ({other.gpus} x {other.gpu}) samples {other.share or 0.0:.0%} beside {sampler.name}"
        gaps.append(Gap(says, "engines have one shape: leave it out, or plan without mixed pools", True))
    return found, gaps


def _scorer(run: Run, name: str) -> Any:
    """The pool of its own that serves a model, where placement lets it stand apart."""
    if run.colocated or run.made.staleness > 0:
        return None
    role = {"ref": "reference"}.get(name, name)
    return next((pool for pool in run.scorers if role in pool.serves), None)
