"""Memory of a pool that trains: the peak over its updates and scoring passes, with everything else that stays there.

While one model is updated, the other trained models keep weights and optimizer states, and frozen models their
weights. LoRA references share the policy's weights and hold none of their own. A policy's backbone and its action
expert are updated in one pass, so both hold all they need at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates import Layout, MemoryParts, forward_parts, kv_gib_per_token
from rlopt.estimates.roles import POLICY
from rlopt.estimates.training.activations import micro_batch_tokens
from rlopt.estimates.training.memory import update_tensors, with_overhead
from rlopt.pools.context import Context
from rlopt.words import PARAMETERS_OFF, StageKind
from rlopt.workloads import Role, Stage, Workload
from rlopt.workloads.shared_value import joined_update

PARTS = ("weights", "gradients", "optimizer", "activations", "logits", "kv_cache", "buffers", "runtime")
Parts = dict[str, NDArray[np.float64]]
"""GiB per GPU by part, shape (layouts,) each."""


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
    frozen: NDArray[np.float64]
    """Weights that are held all the time and never change: reference, teacher, the base under adapters. GiB per GPU."""

    def peak(self) -> NDArray[np.float64]:
        """GiB per GPU at the highest stage, shape (layouts,)."""
        return np.asarray(np.max([stage.total() for stage in self.stages], axis=0), dtype=np.float64)


def role_layout(context: Context, role: str, layout: Layout) -> Layout:
    """The pool's layouts as one role's model takes them, the policy's own for most.

    A mixture of experts beside a dense policy has no expert parallelism to share: tensor parallelism splits its
    experts as it splits everything else.
    """
    policy = context.shapes.get("policy")
    if context.shapes[role].moe and policy is not None and not policy.moe:
        return replace(layout, etp=layout.tp)
    return layout


def as_dict(parts: MemoryParts) -> Parts:
    """The parts by name."""
    return {name: np.asarray(getattr(parts, name), dtype=np.float64) for name in PARTS}


def _tensors(context: Context, stage: Stage, layout: Layout, precision: str) -> MemoryParts:
    """What the tensors of one model's update take; a frozen backbone keeps its keys and values for the expert."""
    shape, training = context.shapes[stage.role], context.trainings[stage.role]
    tokens = context.tokens(stage)
    found = update_tensors(context.worker(stage.role, layout, precision, training), tokens)
    if "action" not in context.shapes or stage.role != "policy" or training.backward is True:
        return found
    kept = micro_batch_tokens(layout, tokens) * kv_gib_per_token(shape, layout.tp) / layout.pp
    return replace(found, activations=found.activations + kept)


def _updates(
    context: Context, layout: Layout, precision: str
) -> tuple[dict[str, Parts], dict[str, Parts], dict[str, list[str]]]:
    """Memory of each update by role, by the stages in which they run, and the roles of each of these.

    Backbone and action expert are updated in one pass, and with them a value head that reads the same inputs.
    """
    tensors = {
        stage.role: _tensors(context, stage, layout, precision) for stage in context.workload.of_kind(StageKind.TRAIN)
    }
    together = {role: [role] for role in tensors}
    if "action" in tensors:
        joined = (*POLICY, "value") if joined_update(context.request, context.workload.acting) else POLICY
        together = {"policy": [role for role in tensors if role in joined]} | {
            role: [role] for role in tensors if role not in joined
        }
    staged = {}
    for name, roles in together.items():
        joint = MemoryParts(
            *(np.sum([getattr(tensors[role], part.name) for role in roles], axis=0) for part in fields(MemoryParts))
        )
        stack = context.stack(layout, context.trainings[name])
        staged[name] = as_dict(with_overhead(joint, layout, stack, context.calibration))
    return {role: as_dict(parts) for role, parts in tensors.items()}, staged, together


def training_memory(context: Context, layout: Layout, update_precision: str, score_precision: str) -> TrainingMemory:
    """Stages of the pool for every layout (recompute and offload included in ``layout``)."""
    updates, staged, together = _updates(context, layout, update_precision)

    def scored(stage: Stage) -> Parts:
        """Memory of one scoring pass, in 16 bits where some steps fall back to them."""
        precision = update_precision if stage.role in updates else score_precision
        at = role_layout(context, stage.role, layout)
        return as_dict(forward_parts(context.worker(stage.role, at, context.held(precision)), context.tokens(stage)))

    forwards = {stage.role: scored(stage) for stage in _passes(context.workload)}
    held, away = _held(context, layout, updates, forwards), layout.offload == PARAMETERS_OFF
    stages = []
    for name, parts in staged.items():
        extra = _others(held, together[name], away)
        joined = {part: parts[part] + extra[part] for part in ("weights", "optimizer")}
        stages.append(StageMemory(f"update {name}", {**parts, **joined}))
    for name, parts in forwards.items():
        whole = _beside_others(context.workload.role(name), parts, held, away)
        stages.append(StageMemory(f"forward {name}", whole))
    for stage in context.once:  # before the first step: nothing else is loaded yet
        if stage.kind != StageKind.TRAIN:  # the same update in every step finds more beside it
            stages.append(StageMemory(f"once {stage.role}", scored(stage)))
    return TrainingMemory(tuple(stages), _others(held, (), away), np.where(away, 0.0, _frozen(context, held)))


def _passes(workload: Workload) -> Iterator[Stage]:
    """One scoring pass of each role, and that of an evaluation where none else is of its role."""
    asked, known = workload.evaluation, set[str]()
    asking = () if asked is None or asked.stage.kind != StageKind.SCORE else (asked.stage,)
    for stage in (*workload.of_kind(StageKind.SCORE), *asking):
        if stage.role not in known:
            known.add(stage.role)
            yield stage


def _held(
    context: Context, layout: Layout, updates: Mapping[str, Parts], forwards: Mapping[str, Parts]
) -> dict[str, Parts]:
    """Weights and optimizer states of every model, at work or not; references without weights of their own hold 0."""
    zero = np.zeros(len(layout))
    held = {role: {"weights": parts["weights"], "optimizer": parts["optimizer"]} for role, parts in updates.items()}
    for role in context.workload.roles:
        if not role.trained:
            weights = forwards[role.name]["weights"] if role.weights and role.name in forwards else zero
            held[role.name] = {"weights": weights, "optimizer": zero}
    return held


def _beside_others(role: Role, parts: Parts, held: Mapping[str, Parts], away: NDArray[np.bool_]) -> Parts:
    """A scoring pass of one model beside what all others keep there."""
    extra, weights = _others(held, (role.name,), away), parts["weights"]
    if role.weights:
        weights, more = np.maximum(weights, held[role.name]["weights"]), extra["weights"]
    else:  # a LoRA reference is the policy itself: do not count it twice
        weights = held["policy"]["weights"]
        more = extra["weights"] - np.where(away, 0.0, weights)
    return {
        **parts,
        "gradients": np.zeros(len(away)),
        "weights": weights + more,
        "optimizer": held[role.name]["optimizer"] + extra["optimizer"],
    }


def _frozen(context: Context, held: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """Weights of the models that nothing trains, or that train adapters alone, GiB per GPU."""
    still = [
        role.name
        for role in context.workload.roles
        if not role.trained
        or np.any(context.trainings[role.name].lora)
        or context.trainings[role.name].trainable_share == 0
    ]
    none = np.zeros_like(next(iter(held.values()))["weights"])
    return np.asarray(np.sum([none, *(held[name]["weights"] for name in still)], axis=0), dtype=np.float64)


def _others(
    held: Mapping[str, Mapping[str, NDArray[np.float64]]], names: Collection[str], away: NDArray[np.bool_]
) -> Parts:
    """What models other than ``names`` keep on the GPU; nothing where parameters are offloaded between stages."""
    total = {
        part: np.sum(
            [parts[part] for role, parts in held.items() if role not in names] or [np.zeros(len(away))], axis=0
        )
        for part in ("weights", "optimizer")
    }
    return {part: np.where(away, 0.0, value) for part, value in total.items()}


def with_choices(layout: Layout, recompute: int, offload: int) -> Layout:
    """The same layouts with recomputation and offload set."""
    return replace(layout, recompute=np.full_like(layout.tp, recompute), offload=np.full_like(layout.tp, offload))
