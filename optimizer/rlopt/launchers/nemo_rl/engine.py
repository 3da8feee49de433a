"""NeMo-RL's training backend for a layout: DTensor (FSDP2) or Megatron-Core."""

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
    "etp": "expert_tensor_parallel_size",
}
EIGHT_BIT: Final = "bitsandbytes.optim.AdamW8bit"


@dataclass(frozen=True, slots=True)
class NemoRlBackend:
    """A backend with its settings."""

    megatron: bool
    ranks: int
    """Data-parallel ranks."""
    settings: dict[str, Any]
    """Under policy, as it stands on a command line."""
    body: dict[str, Any]
    """The engine's keys without ``policy.``, for another model with the same layout."""
    gaps: tuple[Gap, ...]


def engine_of(run: Run) -> NemoRlBackend:
    """The backend that carries the plan's layout."""
    layout, alone = run.layout, run.trainer.gpus == 1
    deep = run.degree("pp") > 1 or run.degree("ep") > 1
    whole = layout.sharding in ("ddp", "zero1") and not alone
    # DTensor loads every weight in fp32, also the frozen ones below adapters
    lora = run.request.job.trainable.kind == "lora"
    megatron = deep or whole or lora or layout.offload == "optimizer" or run.made.precision.update == "fp8"
    if run.request.job.optimizer == "adamw_8bit" and not deep and not lora:
        megatron = False
    body, gaps = _megatron(run) if megatron else _dtensor(run)
    ranks = run.trainer.gpus // (run.degree("tp") * run.degree("cp") * (run.degree("pp") if megatron else 1))
    settings = {under("policy.", key): value for key, value in body.items()}
    cp = run.degree("cp")
    settings["policy.make_sequence_length_divisible_by"] = run.degree("tp") * (2 * cp if cp > 1 else 1)
    settings |= _optimizer(run, megatron, gaps)
    if run.made.precision.update not in ("bf16", "fp16", "fp8"):
        gaps.append(Gap(f"updates run in {run.made.precision.update}", "bf16 is written", True))
    return NemoRlBackend(megatron, ranks, settings, body, tuple(gaps))


def _dtensor(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    layout, gaps, room = run.layout, list[Gap](), "dtensor_cfg."
    body: dict[str, Any] = {
        f"{room}enabled": True,
        "megatron_cfg.enabled": False,
        f"{room}tensor_parallel_size": run.degree("tp"),
        f"{room}context_parallel_size": run.degree("cp"),
        f"{room}sequence_parallel": bool(layout.sequence_parallel),
        f"{room}activation_checkpointing": layout.recompute in ("full", "selective"),
        f"{room}cpu_offload": layout.offload == "parameters",
    }
    if layout.recompute == "selective":
        says = "activations are recomputed selectively; DTensor recomputes all or none"
        gaps.append(Gap(says, "all are recomputed: less memory, updates about a third longer", True))
    if layout.sharding == "zero2" and run.trainer.gpus > 1:
        gaps.append(Gap("weights stay whole (zero2)", "DTensor shards them too: less memory, more traffic", True))
    _both(run, gaps)
    return body, gaps


def _megatron(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    layout, gaps, job, room = run.layout, list[Gap](), run.request.job, "megatron_cfg."
    host = layout.offload in ("optimizer", "parameters")
    body: dict[str, Any] = {"dtensor_cfg.enabled": False, f"{room}enabled": True}
    body |= {room + key: run.degree(name) for name, key in MEGATRON.items()}
    body |= {
        f"{room}sequence_parallel": bool(layout.sequence_parallel),
        f"{room}activation_checkpointing": layout.recompute in ("full", "selective"),
        f"{room}optimizer.use_distributed_optimizer": layout.sharding != "ddp",
        f"{room}optimizer.optimizer_cpu_offload": host,
        f"{room}optimizer.optimizer_offload_fraction": 1.0 if host else 0.0,
    }
    if layout.recompute in ("full", "selective"):
        body[f"++{room}recompute_granularity"] = layout.recompute
    if run.made.precision.update == "fp8":
        body |= {f"{room}fp8_cfg.enabled": True}
    if layout.sharding in ("zero2", "zero3"):
        gaps.append(
            Gap(f"weights or gradients are sharded ({layout.sharding})", "Megatron shards optimizer states", True)
        )
    if layout.offload == "parameters":
        gaps.append(Gap("parameters leave the GPU too", "Megatron offloads the optimizer; weights stay", True))
    if layout.vp and layout.vp > 1:
        gaps.append(Gap(f"virtual pipeline stages ({layout.vp})", "no key here: the pipeline idles more", True))
    if job.trainable.lora_rank:
        body |= {f"{room}peft.enabled": True, f"{room}peft.dim": job.trainable.lora_rank}
        body[f"{room}peft.alpha"] = job.trainable.lora_rank
    gaps.append(Gap("the model family is not checked", "see that Megatron-Bridge converts it"))
    _both(run, gaps)
    return body, gaps


def _both(run: Run, gaps: list[Gap]) -> None:
    job, kernels = run.request.job, run.made.kernels or {}
    if job.trainable.base == "int4":
        gaps.append(Gap("frozen weights in int4", "NeMo-RL holds them in bf16; plan with base: bf16", True))
    if job.trainable.kind == "frozen":
        parts = ", ".join(job.trainable.frozen)
        gaps.append(Gap(f"frozen parts: {parts}", "set automodel_kwargs.freeze_config or freeze_vision_model", True))
    if kernels.get("loss") == "chunked":
        gaps.append(
            Gap("logits are never held whole", "set policy.logprob_chunk_size or use_fused_linear_logprobs", True)
        )
    if kernels.get("attention") == "plain":
        gaps.append(Gap("attention without a fused kernel", "NeMo-RL fuses it: less memory and time", True))


def _optimizer(run: Run, megatron: bool, gaps: list[Gap]) -> dict[str, Any]:
    kind = run.request.job.optimizer
    if kind == "adamw_8bit" and not megatron:
        gaps.append(Gap("the optimizer's own arguments", "policy.optimizer.kwargs of the base may not fit it: check"))
        return {"policy.optimizer.name": EIGHT_BIT}
    if kind != "adamw":
        gaps.append(
            Gap(f"the optimizer is {kind}", "Adam with fp32 states is written: its states take more memory", True)
        )
    return {}
