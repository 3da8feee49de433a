"""accelerate's file for a TRL run: FSDP2, DeepSpeed or plain replicas over all GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.gaps import merges
from rlopt.launchers.exports.run import Run
from rlopt.words import Sharding

STAGES: Final[Mapping[str, int]] = {sharding: max(sharding.code, 1) for sharding in Sharding}


def accelerate(run: Run) -> tuple[dict[str, Any], list[Gap]]:
    """The tree of the file, and what it cannot say."""
    layout, pool = run.layout, run.trainer
    sharding = "zero3" if merges(run, ()) else layout.sharding or "zero3"
    tree: dict[str, Any] = {
        "compute_environment": "LOCAL_MACHINE",
        "num_machines": pool.nodes,
        "num_processes": pool.gpus,
        "machine_rank": 0,
        "main_process_port": 29500,
        "mixed_precision": "fp16" if run.made.precision.update == "fp16" else "bf16",
        "same_network": True,
        "use_cpu": False,
    }
    if layout.offload == "optimizer" or (sharding == "zero1" and pool.gpus > 1 and layout.offload == "none"):
        host = "cpu" if layout.offload == "optimizer" else "none"
        own = {"zero_stage": STAGES[sharding], "offload_optimizer_device": host, "offload_param_device": "none"}
        own |= {"zero3_init_flag": sharding == "zero3", "zero3_save_16bit_model": sharding == "zero3"}
        return tree | {"distributed_type": "DEEPSPEED", "deepspeed_config": own}, []
    if layout.offload == "parameters" or (sharding in ("zero2", "zero3") and pool.gpus > 1):
        own = {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": sharding != "zero2",
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_offload_params": layout.offload == "parameters",
            "fsdp_activation_checkpointing": layout.recompute in ("full", "selective"),
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
            "fsdp_cpu_ram_efficient_loading": True,
        }
        return tree | {"distributed_type": "FSDP", "fsdp_config": own}, []
    return tree | {"distributed_type": "MULTI_GPU" if pool.gpus > 1 else "NO"}, []
