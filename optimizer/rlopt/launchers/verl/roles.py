"""The other models of a verl run: critic, reward model, teacher, and the tools that a policy calls."""

from __future__ import annotations

from typing import Any

from rlopt.launchers.exports.batches import StepBatches
from rlopt.launchers.exports.contract import Blank, Gap
from rlopt.launchers.exports.models import address, blanks_of, has_model
from rlopt.launchers.exports.run import Run
from rlopt.launchers.verl.engine import engine_of
from rlopt.request.job.parts import Environment

ENGINE = 0.5
"""Share of a card for an engine that the plan tells no memory of: verl's own default."""
OWN = "actor_rollout_ref.actor.optim."
"""The policy's optimizer: a critic trains with the same."""
TOOLS = Blank("TOOL_CONFIG", "the YAML file that describes the tools")
TEACHER_NODES = Blank("TEACHER_NODES", "the machines for the teacher: the plan has none of its own")
TEACHER_GPUS = Blank("TEACHER_GPUS_PER_NODE", "the GPUs of each of these machines")
Part = tuple[dict[str, Any], list[Blank], list[Gap]]


def roles(run: Run, batch: StepBatches) -> Part:
    """Settings, blanks and gaps of every role beside policy and reference."""
    settings: dict[str, Any] = {}
    blanks, gaps = list[Blank](), list[Gap]()
    parts = [_reward(run)] if has_model(run, "reward") and run.algorithm in ("ppo", "grpo") else []
    parts += [_critic(run, batch)] if run.algorithm == "ppo" else []
    parts += [_teacher(run)] if run.algorithm == "opd" else []
    acts = run.request.job.environment
    parts += [_environment(run, acts)] if acts is not None else []
    for added, asked, missing in parts:
        settings, blanks, gaps = settings | added, [*blanks, *asked], [*gaps, *missing]
    return settings, blanks, [*gaps, *_unplaced(run)]


def _unplaced(run: Run) -> list[Gap]:
    """Pools of their own for what verl scores on the training machines only."""
    found = []
    for pool in run.scorers:
        if not {"reward", "teacher"} & set(pool.serves):
            says = f"pool {pool.name} serves {', '.join(pool.serves)}"
            found.append(Gap(says, "verl scores with these on the training machines: more memory there", True))
    return found


def _critic(run: Run, batch: StepBatches) -> Part:
    engine, model = engine_of(run), address(run, "critic")
    room = "critic." + ("fsdp." if engine.fsdp else "megatron.")
    settings = {
        "critic.model.path": model,
        "critic.ppo_micro_batch_size_per_gpu": batch.micro_batch,
        "critic.strategy": "fsdp2" if engine.fsdp else "megatron",
        **{room + key: value for key, value in engine.body.items()},
        **{key.replace(OWN, "critic.optim."): value for key, value in engine.settings.items() if OWN in key},
    }
    if run.request.job.packing:
        settings["critic.ppo_max_token_len_per_gpu"] = run.budget_tokens(run.degree("cp"))
    if engine.fsdp:
        settings["critic.model.enable_gradient_checkpointing"] = run.layout.recompute in ("full", "selective")
    return settings, blanks_of(model), []


def _reward(run: Run) -> Part:
    model, pool = address(run, "reward"), next((one for one in run.scorers if "reward" in one.serves), None)
    where = "reward.reward_model."
    settings: dict[str, Any] = {
        f"{where}enable": True,
        f"{where}model_path": model,
        f"{where}rollout.name": "vllm",
        f"{where}rollout.tensor_model_parallel_size": (pool.layout.tp if pool and pool.layout else None) or 1,
        f"{where}rollout.prompt_length": run.sequence_tokens,
        f"{where}enable_resource_pool": pool is not None,
    }
    gaps = []
    if pool is not None:
        settings |= {f"{where}nnodes": pool.nodes, f"{where}n_gpus_per_node": pool.gpus_per_node}
    else:
        says = "the reward model scores by plain passes beside training; verl serves it with an engine of its own"
        gaps.append(
            Gap(says, f"its engine takes {ENGINE:.0%} of a card by default while it scores: try smoke.sh", True)
        )
    return settings, blanks_of(model), gaps


def _teacher(run: Run) -> Part:
    model, where = address(run, "teacher"), "distillation."
    pool = next((one for one in run.scorers if "teacher" in one.serves), None)
    engine = f"{where}teacher_models.teacher_model.inference."
    settings: dict[str, Any] = {
        f"{where}enabled": True,
        f"{where}teacher_models.teacher_model.model_path": model,
        f"{where}distillation_loss.use_task_rewards": False,
        f"{engine}max_model_len": run.sequence_tokens + 1,
    }
    if pool is not None:
        settings |= {
            f"{where}nnodes": pool.nodes,
            f"{where}n_gpus_per_node": pool.gpus_per_node,
            f"{engine}tensor_model_parallel_size": (pool.layout.tp if pool.layout else None) or 1,
        }
        fraction = run.engine_fraction(pool)
        if fraction is not None:
            settings[f"{engine}gpu_memory_utilization"] = fraction
        return settings, blanks_of(model), []
    settings |= {f"{where}nnodes": TEACHER_NODES, f"{where}n_gpus_per_node": TEACHER_GPUS}
    settings[f"{engine}tensor_model_parallel_size"] = TEACHER_GPUS
    says = "the teacher scores on the training machines; verl gives it machines of its own, which this plan has not"
    do = "rent them beside (they are not on the bill), or export to nemo-rl or trl, where it stays with training"
    return settings, [*blanks_of(model), TEACHER_NODES, TEACHER_GPUS], [Gap(says, do, True)]


def _environment(run: Run, made: Environment) -> Part:
    room = "actor_rollout_ref.rollout."
    settings: dict[str, Any] = {
        f"{room}multi_turn.enable": True,
        f"{room}multi_turn.tool_config_path": TOOLS,
        f"{room}agent.default_agent_loop": "tool_agent",
    }
    calls = made.calls_per_sample
    if calls is not None:
        settings[f"{room}multi_turn.max_assistant_turns"] = calls.max + 1
    says = f"{(run.made.environment or {}).get('instances', made.instances)} instances of the environment"
    return settings, [TOOLS], [Gap(says, "run as many behind the tools")]
