"""Round constants under which the terms of training time are computed by hand, whatever the fits say today."""

from __future__ import annotations

from functools import lru_cache

from rlopt.estimates import Calibration
from tests.estimates.parts import calibration

PLAIN = {
    "half_width": 330.0,
    "half_tokens": 250.0,
    "half_expert_tokens": 1210.0,
    "permute_bytes": 31.0,
    "attention_half_length": 450.0,
    "state_space_bytes": 540.0,
    "adapter_bytes": 0.0,
    "adapter_launches": 1.0,
    "ragged_factor": 0.8,
    "window_skipped": 1.0,
    "logits_bytes": 14.0,
    "dequantise_bytes": 13.5,
    "hbm_share": 0.8,
    "tp_exposed_pcie": 1.0,
    "tp_latency_s": 2.1e-5,
    "ep_exposed": 0.42,
    "ep_exposed_far": 0.84,
    "ep_latency_s": 4.8e-5,
    "cp_exposed": 0.5,
    "reduction_bytes": 4.0,
    "straggler_per_doubling": 0.01,
    "optimizer_bytes": 30.0,
    "offload_bytes": 6.0,
    "cpu_adam_params_per_s": 3.9e9,
}
BY_ENGINE = {
    "expert_factor": 0.96,
    "moe_overhead_s": 5.7e-4,
    "moe_host_s": 0.0,
    "elementwise_bytes": 98.0,
    "unfused_bytes": 10.0,
    "tp_exposed": 0.22,
    "dp_exposed": 0.51,
    "fsdp_norm": 1.14,
    "host_s": 6.0e-5,
    "step_s": 0.0,
    "engine_factor": 1.0,
}
LINKS = {"nvlink_share": 0.78, "nic_share": 0.70, "pcie_share": 0.25, "copy_share": 0.80}


@lru_cache(maxsize=1)
def constants() -> Calibration:
    """The shipped calibration with round constants of training time."""
    shipped = calibration()
    training = shipped.training
    values: dict[tuple[str, ...], float] = {("training", key): value for key, value in PLAIN.items()}
    values |= {("training", key, name): value for key, value in BY_ENGINE.items() for name in training[key]}
    values |= {("training", "device_factor", name): 1.0 for name in training["device_factor"]}
    values |= {("training", "gemm_ceiling", "Hopper"): 0.72, ("training", "head_dim_power", "Hopper"): 0.3}
    for engine, shares in training["attention_share"].items():
        values |= {("training", "attention_share", engine, name): 0.51 for name in shares}
    values |= {("training", "saturates_later", name): value for name, value in (("fp8", 2.0), ("fp4", 4.0))}
    values |= {("links", key): value for key, value in LINKS.items()}
    return shipped.replaced(values)
