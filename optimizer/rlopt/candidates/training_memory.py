"""Memory of a pool that trains: the peak over its updates and scoring passes, with everything else that stays there.

While one model is updated, the other trained models keep weights and optimizer states, and frozen models their
weights. LoRA references share the policy's weights and hold none of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlopt.candidates.context import Context
from rlopt.estimates import Hardware, Layout, MemoryParts, forward_parts, update_parts

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "kv_cache", "buffers", "runtime")
OPTIMIZER_OFF, PARAMETERS_OFF = 1, 2


@dataclass(frozen=True, slots=True)
class StageMemory:
    """One stage's memory by part (GiB per GPU, shape (layouts,) each)."""

    stage: str
    parts: Mapping[str, NDArray[np.float64]]

    def total(self) -> NDArray[np.float64]:
        """GiB per GPU."""
        return np.asarray(np.sum([self.parts[name] for name in PARTS], axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Stages of a training pool, and what stays on the GPU while a colocated engine samples."""

    stages: tuple[StageMemory, ...]
    resident: Mapping[str, NDArray[np.float64]]

    def peak(self) -> NDArray[np.float64]:
        """GiB per GPU at the highest stage, shape (layouts,)."""
        return np.asarray(np.max([stage.total() for stage in self.stages], axis=0), dtype=np.float64)


def _as_dict(parts: MemoryParts) -> dict[str, NDArray[np.float64]]:
    return {name: np.asarray(getattr(parts, name), dtype=np.float64) for name in PARTS}


def training_memory(
    context: Context, layout: Layout, hardware: Hardware, update_precision: str, score_precision: str
) -> TrainingMemory:
    """Stages of the pool for every layout (recompute and offload included in ``layout``)."""
    workload, calibration = context.workload, context.calibration
    updates = {
        stage.role: _as_dict(
            update_parts(
                context.shapes[stage.role],
                context.trainings[stage.role],
                hardware,
                layout,
                context.tokens(stage),
                update_precision,
                calibration,
                stack=context.stack(layout, context.trainings[stage.role]),
            )
        )
        for stage in workload.of_kind("update")
    }
    forwards = {}
    for stage in workload.of_kind("forward"):
        precision = update_precision if stage.role in updates else score_precision
        forwards[stage.role] = _as_dict(
            forward_parts(
                context.shapes[stage.role],
                hardware,
                layout,
                context.tokens(stage),
                precision,
                calibration,
                stack=context.stack(layout),
            )
        )
    zero = np.zeros(len(layout.tp))
    away = layout.offload == PARAMETERS_OFF
    held = {role: {"weights": parts["weights"], "optimizer": parts["optimizer"]} for role, parts in updates.items()}
    for role in workload.roles:
        if not role.trained:
            weights = forwards[role.name]["weights"] if role.weights and role.name in forwards else zero
            held[role.name] = {"weights": weights, "optimizer": zero}
    stages = []
    for name, parts in updates.items():
        extra = _others(held, name, away)
        stages.append(
            StageMemory(
                f"update {name}",
                {
                    **parts,
                    "weights": parts["weights"] + extra["weights"],
                    "optimizer": parts["optimizer"] + extra["optimizer"],
                },
            )
        )
    for name, parts in forwards.items():
        extra = _others(held, name, away)
        own = held[name]["optimizer"]
        own_weights = (
            np.maximum(parts["weights"], held[name]["weights"])
            if workload.role(name).weights
            else held["policy"]["weights"]
        )
        if not workload.role(name).weights:  # a LoRA reference is the policy itself: do not count it twice
            extra = {
                "weights": extra["weights"] - np.where(away, 0.0, held["policy"]["weights"]),
                "optimizer": extra["optimizer"],
            }
        stages.append(
            StageMemory(
                f"forward {name}",
                {
                    **parts,
                    "gradients": zero,
                    "weights": own_weights + extra["weights"],
                    "optimizer": own + extra["optimizer"],
                },
            )
        )
    for stage in context.once:  # before the first step: nothing else is loaded yet
        precision = update_precision if stage.role in updates else score_precision
        alone = forward_parts(
            context.shapes[stage.role],
            hardware,
            layout,
            context.tokens(stage),
            precision,
            calibration,
            stack=context.stack(layout),
        )
        stages.append(StageMemory(f"once {stage.role}", _as_dict(alone)))
    everything = _others(held, "", away)
    return TrainingMemory(tuple(stages), everything)


def _others(
    held: Mapping[str, Mapping[str, NDArray[np.float64]]], name: str, away: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """What the other models keep on the GPU; nothing where parameters are offloaded between their stages."""
    total = {
        part: np.sum([parts[part] for role, parts in held.items() if role != name] or [np.zeros(len(away))], axis=0)
        for part in ("weights", "optimizer")
    }
    return {part: np.where(away, 0.0, value) for part, value in total.items()}


def with_choices(layout: Layout, recompute: int, offload: int) -> Layout:
    """The same layouts with recomputation and offload set."""
    return replace(layout, recompute=np.full_like(layout.tp, recompute), offload=np.full_like(layout.tp, offload))
