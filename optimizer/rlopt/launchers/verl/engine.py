"""verl's training backend for a layout: FSDP2 or Megatron-Core, with what each is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.text import under

MEGATRON: Final = {
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
}
DTYPES: Final = {"bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True, slots=True)
class VerlBackend:
    """A backend with its settings."""

    fsdp: bool
    ranks: int
    """Data-parallel ranks."""
    settings: dict[str, Any]
    """Under actor_rollout_ref, as it stands on a command line."""
    body: dict[str, Any]
    """The engine's own keys without the path they stand at, for another model or the sft trainer."""
    gaps: tuple[Gap, ...]


def engine_of(run: Run) -> VerlBackend:
    """The backend that carries the plan's layout."""
    layout = run.layout
    plain = all(run.degree(name) == 1 for name in ("tp", "pp", "ep"))
    alone = run.trainer.gpus == 1
    host_adam = layout.offload == "optimizer" and layout.sharding != "zero3"
    fsdp = plain and (alone or layout.sharding in ("zero2", "zero3", "ddp")) and not host_adam
    if run.request.job.optimizer == "adamw_8bit" and plain:
        fsdp = True
    model = _model(run, fsdp)
    body, gaps = _fsdp(run) if fsdp else _megatron(run)
    ranks = run.trainer.gpus // (run.degree("cp") * (1 if fsdp else run.degree("tp") * run.degree("pp")))
    room = "actor_rollout_ref.actor." + ("fsdp_config." if fsdp else "megatron.")
    settings = {"actor_rollout_ref.actor.strategy": "fsdp2" if fsdp else "megatron", **model}
    settings |= {under(room, key): value for key, value in body.items()}
    settings |= _optimizer(run, fsdp, gaps)
    return VerlBackend(fsdp, ranks, settings, body, tuple(gaps))


def _model(run: Run, fsdp: bool) -> dict[str, Any]:
    job, kernels = run.request.job, run.made.kernels or {}
    found: dict[str, Any] = {}
    if fsdp:
        found["actor_rollout_ref.model.enable_gradient_checkpointing"] = run.layout.recompute in ("full", "selective")
    if kernels.get("loss") == "chunked":
        found["actor_rollout_ref.model.use_fused_kernels"] = True
    if kernels.get("attention") == "plain":
        found["++actor_rollout_ref.model.override_config.attn_implementation"] = "eager"
    rank = job.trainable.lora_rank
    if rank and fsdp:
        found |= {"actor_rollout_ref.model.lora_rank": rank, "actor_rollout_ref.model.lora_alpha": rank}
        found["actor_rollout_ref.model.target_modules"] = "all-linear"
    elif rank:
        found |= {"actor_rollout_ref.model.lora.rank": rank, "actor_rollout_ref.model.lora.alpha": rank}
    if "vision" in job.trainable.frozen:
        found["actor_rollout_ref.actor.freeze_vision_tower"] = True
    return found


def _fsdp(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    layout, gaps = run.layout, _precision(run)
    replicas = layout.sharding == "ddp" and run.trainer.gpus > 1
    # masters are fp32 but where the optimizer has none; frozen weights below adapters are bf16 in the plan
    light = run.request.job.optimizer == "adamw_bf16" or run.request.job.trainable.kind == "lora"
    body: dict[str, Any] = {
        "fsdp_size": 1 if replicas else -1,
        "reshard_after_forward": layout.sharding != "zero2",
        "ulysses_sequence_parallel_size": run.degree("cp"),
        "model_dtype": "bf16" if light else "fp32",
        "dtype": DTYPES.get(run.made.precision.update, "bfloat16"),
        "param_offload": layout.offload == "parameters",
        "optimizer_offload": layout.offload in ("optimizer", "parameters"),
        "offload_policy": layout.offload in ("optimizer", "parameters"),
    }
    if layout.offload == "optimizer":
        says = "the optimizer alone is stepped in host memory; FSDP2 puts parameters and gradients there too"
        gaps.append(Gap(says, "memory on the GPU is less, updates take longer", True))
    if layout.recompute == "selective":
        says = "activations are recomputed selectively; verl's FSDP recomputes all or none"
        gaps.append(Gap(says, "all are recomputed: less memory, updates about a third longer", True))
    if run.degree("cp") > 1:
        gaps.append(Gap(f"cp {run.degree('cp')} is Ulysses here", "the number of heads must divide by it"))
    if run.request.job.trainable.base == "int4":
        gaps.append(
            Gap("frozen weights in int4", "verl holds them in the model's own type; plan with base: bf16", True)
        )
    return body, gaps


def _megatron(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    layout, gaps = run.layout, _precision(run)
    body: dict[str, Any] = {key: run.degree(name) for name, key in MEGATRON.items()}
    if layout.vp and layout.vp > 1:
        body["virtual_pipeline_model_parallel_size"] = layout.vp
    if run.degree("ep") > 1:
        body["expert_tensor_parallel_size"] = run.degree("etp")
    body |= {
        "sequence_parallel": bool(layout.sequence_parallel),
        "use_distributed_optimizer": layout.sharding != "ddp",
        "param_offload": layout.offload == "parameters",
        "optimizer_offload": layout.offload in ("optimizer", "parameters"),
        "use_remove_padding": run.request.job.packing,
        "dtype": DTYPES.get(run.made.precision.update, "bfloat16"),
    }
    if layout.sharding == "zero3":
        body["use_megatron_fsdp"] = True
    elif layout.sharding == "zero2":
        gaps.append(Gap("gradients are sharded (zero2)", "Megatron shards optimizer states alone: more memory", True))
    transformer = "override_transformer_config."
    if layout.recompute in ("full", "selective"):
        body[f"{transformer}recompute_granularity"] = layout.recompute
    if layout.recompute == "full":
        body |= {f"{transformer}recompute_method": "uniform", f"{transformer}recompute_num_layers": 1}
    gaps.append(Gap("the model family is not checked", "see that Megatron-Bridge converts it"))
    if run.request.job.trainable.base == "int4":
        gaps.append(Gap("frozen weights in int4", "Megatron holds them in bf16; plan with base: bf16", True))
    return body, gaps


def _optimizer(run: Run, fsdp: bool, gaps: list[Gap]) -> dict[str, Any]:
    kind, at = run.request.job.optimizer, "actor_rollout_ref.actor.optim."
    found: dict[str, Any] = {}
    if not fsdp and run.layout.offload in ("optimizer", "parameters"):
        # Megatron's hybrid optimizer steps in host memory: this is what lowers the peak of an update
        own = "override_optimizer_config."
        found |= {
            f"++{at}{own}optimizer_cpu_offload": True,
            f"++{at}{own}optimizer_offload_fraction": 1.0,
            f"++{at}{own}overlap_cpu_optimizer_d2h_h2d": True,
            f"{at}use_precision_aware_optimizer": True,
        }
    if kind == "adamw_8bit" and fsdp:
        found |= {f"{at}optimizer_impl": "bitsandbytes.optim", f"{at}optimizer": "AdamW8bit"}
    elif kind == "adamw_8bit":
        gaps.append(Gap("the optimizer is adamw_8bit", "Megatron has none: fp32 states take 3 times as much", True))
    elif kind == "adamw_bf16" and fsdp:
        found |= {f"{at}optimizer_impl": "torchao.optim", f"{at}optimizer": "_AdamW"}
        found[f"++{at}override_optimizer_config.bf16_stochastic_round"] = True
    elif kind == "adamw_bf16":
        types = ("exp_avg_dtype", "exp_avg_sq_dtype", "main_grads_dtype")
        found |= {f"{at}use_precision_aware_optimizer": True, **{f"{at}{name}": "bf16" for name in types}}
    return found


def _precision(run: Run) -> list[Gap]:
    low = run.made.precision.update
    if low in DTYPES:
        return []
    return [Gap(f"updates run in {low}", "bf16 is written: verl's keys for other types are not covered", True)]
