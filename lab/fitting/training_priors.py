"""What is believed of the constants of training time before any run is seen: centre, bounds, log deviation.

Physical constants are held by bounds and wide priors; an effect of one stack or GPU type is shrunk towards its family
or towards 1, so that few rows move it little.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.fitting.prior import Prior

PLAIN: Mapping[str, Prior] = {
    "half_width": Prior(330, 50, 1500, 0.5),
    "half_tokens": Prior(250, 10, 2000, 0.5),
    "half_expert_tokens": Prior(1200, 30, 6000, 0.7),
    "permute_bytes": Prior(31, 5, 150, 0.7),
    "attention_half_length": Prior(450, 20, 3000, 0.7),
    "window_skipped": Prior(0.9, 0.05, 1.0, 0.7),
    "ragged_factor": Prior(0.9, 0.5, 1.0, 0.3),
    "state_space_bytes": Prior(540, 50, 3000, 0.7),
    "adapter_bytes": Prior(4, 0.5, 30, 0.7),
    "adapter_launches": Prior(1.0, 0.3, 4.0, 0.5),
    "logits_bytes": Prior(14, 4, 40, 0.3),
    "dequantise_bytes": Prior(13.5, 3, 40, 0.7),
    "ep_exposed": Prior(0.4, 0.05, 2.0, 0.7),
    "ep_exposed_far": Prior(0.6, 0.05, 4.0, 0.7),
    "straggler_per_doubling": Prior(0.01, 0.002, 0.05, 0.3),
    "tp_latency_s": Prior(2.1e-5, 3e-6, 1e-4, 0.3),
    "optimizer_bytes": Prior(30, 20, 45, 0.1),
}
"""One for all rows."""
BY_GENERATION: Mapping[str, Mapping[str, Prior]] = {
    "gemm_ceiling": {
        name: Prior(0.75, 0.3, 0.98, 0.2) for name in ("Volta", "Ampere", "Ada", "Hopper", "Blackwell", "CDNA")
    },
    "gain_8": {"Hopper": Prior(0.9, 0.4, 1.1, 0.2), "Blackwell": Prior(0.8, 0.4, 1.1, 0.2)},
    "head_dim_power": {
        "Ampere": Prior(0.4, 0.05, 2.0, 0.5),
        "Hopper": Prior(0.4, 0.05, 2.0, 0.5),
        "Blackwell": Prior(1.0, 0.05, 2.0, 0.5),
    },
    "gain_4": {"Blackwell": Prior(0.6, 0.3, 1.0, 0.2)},
}
"""By GPU generation; the others copy a neighbour."""
LATER: Mapping[str, Prior] = {"fp8": Prior(2.0, 1.0, 8.0, 0.3), "fp4": Prior(4.0, 1.0, 12.0, 0.3)}
"""How much later than 16 bits a precision saturates."""
ATTENTION: Mapping[str, Mapping[str, Prior]] = {
    "megatron": {
        "Volta": Prior(0.2, 0.05, 0.9, 0.4), "Ampere": Prior(0.4, 0.05, 0.9, 0.3),
        "Hopper": Prior(0.5, 0.05, 0.9, 0.3), "Blackwell": Prior(0.45, 0.05, 0.9, 0.3),
    },
    "fsdp": {
        "Ampere": Prior(0.4, 0.05, 0.9, 0.3), "Hopper": Prior(0.35, 0.05, 0.9, 0.3),
        "Blackwell": Prior(0.4, 0.05, 0.9, 0.3),
    },
    "llm-foundry": {"Ampere": Prior(0.4, 0.05, 0.9, 0.3), "Hopper": Prior(0.2, 0.05, 0.9, 0.3)},
    "hf": {"Ampere": Prior(0.4, 0.05, 0.9, 0.3), "Ada": Prior(0.4, 0.05, 0.9, 0.3)},
}  # fmt: skip
"""Share of the 16-bit peak that fused attention reaches, by engine and generation."""
BY_ENGINE: Mapping[str, Mapping[str, Prior]] = {
    "engine_factor": {
        "fsdp": Prior(1.0, 0.5, 4.0, 0.15),
        "hf": Prior(1.15, 0.5, 4.0, 0.2),
        "bridge-26.06": Prior(1.0, 0.5, 4.0, 0.1),
        "bridge-graph": Prior(1.0, 0.5, 4.0, 0.1, "bridge-26.06"),
        "bridge-26.04": Prior(1.0, 0.5, 4.0, 0.1, "bridge-26.06"),
        "bridge-26.02": Prior(1.0, 0.5, 4.0, 0.1, "bridge-26.04"),
        "bridge-25": Prior(1.0, 0.5, 4.0, 0.1, "bridge-26.02"),
        "bridge-untuned": Prior(1.2, 0.5, 4.0, 0.3),
        "bridge-finetune": Prior(1.2, 0.5, 4.0, 0.3, "bridge-untuned"),
        "bridge-long": Prior(1.5, 0.5, 8.0, 0.5, "bridge-finetune"),
        "swift-megatron": Prior(1.2, 0.5, 4.0, 0.3, "bridge-untuned"),
        "megatron-ci": Prior(1.1, 0.5, 4.0, 0.3),
        "primus": Prior(1.0, 0.5, 4.0, 0.2),
        "megatron-deepspeed": Prior(1.0, 0.5, 4.0, 0.2),
        "megatron-2021": Prior(1.0, 0.5, 4.0, 0.2, "megatron-deepspeed"),
        "deepspeed-2021": Prior(1.0, 0.5, 4.0, 0.3, "megatron-2021"),
        "deepspeed-offload": Prior(1.2, 0.5, 4.0, 0.3),
        "llm-foundry": Prior(1.0, 0.5, 4.0, 0.15, "fsdp"),
        "torchtitan": Prior(1.0, 0.5, 4.0, 0.15, "fsdp"),
        "torchtitan-rowwise": Prior(1.2, 0.5, 4.0, 0.2, "torchtitan"),
        "internevo": Prior(1.0, 0.5, 4.0, 0.15, "fsdp"),
        "flash-attention": Prior(1.0, 0.5, 4.0, 0.2, "internevo"),
        "colossalai": Prior(1.0, 0.5, 4.0, 0.2, "fsdp"),
        "maxtext": Prior(1.0, 0.5, 4.0, 0.2, "fsdp"),
        "torchtune": Prior(1.0, 0.5, 4.0, 0.2, "fsdp"),
        "torchtune-eager": Prior(1.2, 0.5, 4.0, 0.2, "torchtune"),
        "qlora-fsdp": Prior(1.1, 0.5, 4.0, 0.2, "hf"),
        "llama-factory": Prior(1.1, 0.5, 4.0, 0.2, "hf"),
        "unsloth": Prior(1.0, 0.5, 4.0, 0.3, "hf"),
        "peft": Prior(1.1, 0.5, 4.0, 0.3, "hf"),
    },
    "elementwise_bytes": {
        "megatron": Prior(98, 30, 400, 0.3),
        "fsdp": Prior(98, 30, 400, 0.3),
        "hf": Prior(150, 30, 600, 0.4),
        "megatron-deepspeed": Prior(98, 30, 400, 0.3),
    },
    "unfused_bytes": {
        "megatron": Prior(8, 2, 40, 0.4),
        "megatron-deepspeed": Prior(12, 2, 40, 0.4),
        "hf": Prior(12, 2, 40, 0.4),
    },
    "tp_exposed": {
        "megatron": Prior(0.25, 0.03, 1.5, 0.5),
        "fsdp": Prior(0.3, 0.03, 1.5, 0.5),
        "megatron-deepspeed": Prior(1.0, 0.1, 1.5, 0.2),
        "torchtitan": Prior(0.3, 0.03, 1.5, 0.5, "fsdp"),
        "torchtitan-vanilla": Prior(0.9, 0.03, 1.5, 0.3),
        "bridge-untuned": Prior(1.0, 0.1, 1.5, 0.3),
    },
    "dp_exposed": {
        "megatron": Prior(0.5, 0.03, 1.5, 0.5),
        "fsdp": Prior(0.5, 0.03, 1.5, 0.5),
        "megatron-deepspeed": Prior(0.5, 0.03, 1.5, 0.5),
    },
    "fsdp_norm": {
        "megatron": Prior(1.5, 1.0, 4.0, 0.3),
        "fsdp": Prior(1.2, 1.0, 4.0, 0.2),
        "hf": Prior(1.1, 1.0, 4.0, 0.2),
    },
    "host_s": {
        "megatron": Prior(1e-4, 1e-5, 1e-2, 0.7),
        "fsdp": Prior(1.5e-4, 1e-5, 1e-2, 0.7),
        "hf": Prior(1.5e-3, 1e-5, 1e-2, 0.5),
        "peft": Prior(1.0e-3, 1e-5, 1e-2, 0.5, "hf"),
        "qlora-fsdp": Prior(1.0e-3, 1e-5, 1e-2, 0.5, "hf"),
        "llama-factory": Prior(1.0e-3, 1e-5, 1e-2, 0.5, "hf"),
        "unsloth": Prior(1.0e-3, 1e-5, 1e-2, 0.7, "hf"),
        "bridge-untuned": Prior(3e-4, 1e-5, 3e-2, 0.7),
        "bridge-finetune": Prior(1e-3, 1e-5, 3e-2, 0.7, "bridge-untuned"),
    },
    "streamed_passes": {
        "deepspeed-offload": Prior(3, 1, 12, 0.4),
        "qlora-fsdp-offload": Prior(2, 1, 8, 0.4),
    },
    "step_s": {
        "megatron": Prior(0.01, 0.001, 0.2, 0.7),
        "fsdp": Prior(0.01, 0.001, 0.2, 0.7),
        "hf": Prior(0.02, 0.001, 0.5, 0.7),
        "bridge-untuned": Prior(0.1, 0.001, 2.0, 1.0),
        "bridge-finetune": Prior(0.2, 0.001, 5.0, 1.0),
        "swift-megatron": Prior(0.5, 0.001, 5.0, 1.0),
    },
    "expert_factor": {
        "megatron": Prior(0.8, 0.2, 1.2, 0.3),
        "bridge-25": Prior(0.8, 0.2, 1.2, 0.2, "megatron"),
    },
    "moe_host_s": {
        "megatron": Prior(1e-3, 2e-5, 3e-2, 0.7),
        "bridge-26.06": Prior(1e-3, 2e-5, 3e-2, 0.5, "megatron"),
        "bridge-graph": Prior(3e-4, 2e-5, 3e-2, 0.5),
        "bridge-26.04": Prior(2e-3, 2e-5, 3e-2, 0.5, "bridge-26.06"),
        "bridge-26.02": Prior(3e-3, 2e-5, 3e-2, 0.5, "bridge-26.04"),
        "bridge-25": Prior(4e-3, 2e-5, 3e-2, 0.5, "bridge-26.02"),
        "bridge-untuned": Prior(4e-3, 2e-5, 3e-2, 0.5),
        "bridge-finetune": Prior(5e-3, 2e-5, 5e-2, 0.7, "bridge-untuned"),
    },
    "moe_overhead_s": {
        "megatron": Prior(5e-4, 2e-5, 1e-2, 0.5),
        "bridge-26.06": Prior(4e-4, 2e-5, 1e-2, 0.5, "megatron"),
        "bridge-graph": Prior(3e-4, 2e-5, 1e-2, 0.5, "bridge-26.06"),
        "bridge-26.04": Prior(8e-4, 2e-5, 1e-2, 0.5, "bridge-26.06"),
        "bridge-26.02": Prior(8e-4, 2e-5, 1e-2, 0.5, "bridge-26.04"),
        "bridge-25": Prior(8e-4, 2e-5, 1e-2, 0.5, "bridge-26.02"),
        "bridge-untuned": Prior(1e-3, 2e-5, 1e-2, 0.5, "bridge-26.06"),
        "bridge-finetune": Prior(3e-3, 2e-5, 3e-2, 0.7, "bridge-untuned"),
    },
}
"""By engine; one that is missing from a table takes the family it is like."""
DEVICE = Prior(1.0, 0.6, 1.8, 0.08)
"""Of each GPU type that the file names..."""
DEVICES: Mapping[str, Prior] = {
    "H100-SXM-96GB": Prior(1.15, 0.6, 1.8, 0.1),
    "B200-limited": Prior(1.3, 0.6, 2.5, 0.2),
}
"""... but for parts that are held to less power than the type they derive from."""
ADAPTER = Prior(1.0, 0.5, 8.0, 0.6)
"""Of each kind of adapter that the file names, against LoRA."""
LINKS: Mapping[str, Prior] = {
    "nvlink_share": Prior(0.78, 0.5, 0.95, 0.15),
    "nic_share": Prior(0.7, 0.3, 0.95, 0.2),
    "pcie_share": Prior(0.25, 0.1, 0.8, 0.3),
}
"""Achieved shares of nominal links."""
