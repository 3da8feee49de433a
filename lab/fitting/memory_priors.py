"""What is believed of the constants of memory before any peak is seen: centre, bounds, log deviation.

Bytes that follow from what a stack keeps (a 2-byte weight, a 4-byte accumulator) are no constants of the fit. What a
closed form leaves out is shrunk towards its family's value, so that few rows move it little.
"""

from __future__ import annotations

from collections.abc import Mapping

from lab.fitting.prior import Prior

PLAIN: Mapping[str, Prior] = {
    "routed_copies": Prior(3.7, 1.0, 9.0, 0.3),
    "score_bytes": Prior(5.0, 2.0, 6.0, 0.1),  # Korthikanti et al. (2022), equation 1
    "full_workspace": Prior(0.69, 0.3, 2.0, 0.3),
    "routed_workspace": Prior(1.0, 0.3, 3.0, 0.3),
}
"""One for all rows."""
BY_ENGINE: Mapping[str, Mapping[str, Prior]] = {
    "activation_factor": {
        "megatron": Prior(1.05, 0.3, 4.0, 0.1),
        "bridge-26.06": Prior(1.05, 0.3, 4.0, 0.3, "megatron"),
        "megatron-ci": Prior(1.05, 0.3, 4.0, 0.1, "megatron"),
        "megatron-deepspeed": Prior(1.05, 0.3, 4.0, 0.3, "megatron"),
        "swift-megatron": Prior(1.05, 0.3, 4.0, 0.3, "megatron"),
        "primus": Prior(1.05, 0.2, 4.0, 0.5),
        "fsdp": Prior(1.2, 0.3, 4.0, 0.3),
        "prime-rl": Prior(1.2, 0.3, 4.0, 0.3, "fsdp"),
        "litgpt": Prior(1.2, 0.3, 4.0, 0.3),
        "torchtune": Prior(1.0, 0.3, 4.0, 0.3),
        "torchtune-eager": Prior(1.2, 0.3, 4.0, 0.3, "torchtune"),
        "hf": Prior(1.5, 0.3, 4.0, 0.3),
        "peft": Prior(1.5, 0.3, 4.0, 0.3, "hf"),
        "swift": Prior(1.5, 0.3, 4.0, 0.3, "hf"),
        "qlora-fsdp": Prior(1.5, 0.3, 4.0, 0.3, "hf"),
        "llama-factory": Prior(1.5, 0.3, 4.0, 0.3, "hf"),
    },
    "logits_bytes": {
        "megatron": Prior(6.8, 2.0, 20.0, 0.2),
        "megatron-ci": Prior(6.8, 2.0, 20.0, 0.2, "megatron"),
        "fsdp": Prior(10.0, 2.0, 20.0, 0.3),
        "litgpt": Prior(13.0, 2.0, 20.0, 0.3),
        "torchtune": Prior(10.0, 2.0, 20.0, 0.3),
        "hf": Prior(10.0, 2.0, 20.0, 0.3),
        "peft": Prior(10.0, 2.0, 20.0, 0.3, "hf"),
        "swift": Prior(10.0, 2.0, 20.0, 0.3, "hf"),
        "qlora-fsdp": Prior(10.0, 2.0, 20.0, 0.3, "hf"),
        "llama-factory": Prior(10.0, 2.0, 20.0, 0.3, "hf"),
    },
    "logits_bytes_chunked": {
        "megatron-ci": Prior(10.0, 2.0, 20.0, 0.3),
        "fsdp": Prior(1.5, 0.1, 8.0, 0.5),
        "hf": Prior(1.5, 0.1, 8.0, 0.5),
    },
    "selective_factor": {
        "megatron": Prior(0.9, 0.15, 1.0, 0.1),
        "bridge-26.06": Prior(0.9, 0.15, 1.0, 0.3, "megatron"),
        "megatron-ci": Prior(0.9, 0.15, 1.0, 0.3, "megatron"),
        "fsdp": Prior(0.5, 0.15, 1.0, 0.3),
    },
    "lora_activation_bytes": {
        "megatron": Prior(2.8, 0.1, 8.0, 0.5),
        "fsdp": Prior(2.0, 0.1, 8.0, 0.5),
        "hf": Prior(2.0, 0.1, 8.0, 0.5),
    },
    "reading_share": {
        "megatron": Prior(1.0, 0.9, 1.1, 0.02),
        "swift-megatron": Prior(1.06, 0.9, 1.3, 0.03),
        "primus": Prior(1.06, 0.9, 1.3, 0.03),
        "megatron-deepspeed": Prior(1.06, 0.9, 1.3, 0.03),
        "torchtitan": Prior(1.02, 0.9, 1.3, 0.03),
        "prime-rl": Prior(1.04, 0.9, 1.3, 0.03),
        "internevo": Prior(1.06, 0.9, 1.3, 0.03),
        "colossalai": Prior(1.06, 0.9, 1.3, 0.03),
        "litgpt": Prior(1.0, 0.9, 1.1, 0.02),
        "torchtune": Prior(1.0, 0.9, 1.1, 0.02),
        "qlora-fsdp": Prior(1.02, 0.9, 1.3, 0.03),
        "hf": Prior(1.06, 0.9, 1.3, 0.03),
        "peft": Prior(1.02, 0.9, 1.3, 0.03),
        "swift": Prior(1.06, 0.9, 1.3, 0.03),
        "llama-factory": Prior(1.06, 0.9, 1.3, 0.03),
        "unsloth": Prior(1.06, 0.9, 1.3, 0.03),
    },
    "reading_gib": {
        "megatron": Prior(0.12, 0.01, 6.0, 0.3),
        "swift-megatron": Prior(2.2, 0.3, 8.0, 0.4),
        "primus": Prior(2.2, 0.3, 8.0, 0.4),
        "megatron-deepspeed": Prior(2.2, 0.3, 8.0, 0.4),
        "torchtitan": Prior(0.5, 0.01, 6.0, 0.5),
        "prime-rl": Prior(0.5, 0.01, 6.0, 0.5),
        "internevo": Prior(2.2, 0.3, 8.0, 0.4),
        "colossalai": Prior(2.2, 0.3, 8.0, 0.4),
        "litgpt": Prior(0.12, 0.01, 6.0, 0.3),
        "torchtune": Prior(0.12, 0.01, 6.0, 0.3),
        "qlora-fsdp": Prior(0.5, 0.01, 6.0, 0.5),
        "hf": Prior(2.2, 0.3, 8.0, 0.4),
        "peft": Prior(0.5, 0.01, 6.0, 0.5),
        "swift": Prior(1.5, 0.3, 8.0, 0.4),
        "llama-factory": Prior(1.5, 0.3, 8.0, 0.4),
        "unsloth": Prior(1.5, 0.3, 8.0, 0.4),
    },
    "optimizer_step_bytes": {
        "fsdp": Prior(4.0, 0.05, 12.0, 0.5),
        "torchtune": Prior(1.0, 0.05, 12.0, 0.5),
        "hf": Prior(5.0, 0.05, 12.0, 0.5),
    },
    "bucket_gib": {"hf": Prior(1.0, 0.01, 4.0, 0.5)},
    "quantised_table_bytes": {
        "fsdp": Prior(2.0, 0.5, 4.5, 0.2),
        "hf": Prior(2.9, 0.5, 4.5, 0.2),
    },
    "low_precision_copy_bytes": {"megatron": Prior(1.0, 0.05, 3.0, 0.5)},
    "gradient_bytes": {"bridge-26.06": Prior(3.0, 2.0, 4.0, 0.2)},  # recipes accumulate in bf16 or in fp32
    "gradient_bytes_accumulated": {"megatron": Prior(6.0, 4.0, 8.0, 0.1)},
    "optimizer_bytes": {"internevo": Prior(18.0, 12.0, 26.0, 0.1)},
}
"""By engine; one that is missing from a table takes the family it is like."""
