"""From a role of the workload to what the estimates take: its shape, and what is trained of it.

A frozen part carries no gradients and no optimizer state. Gradients flow through the layers only where something in
them or below them (embeddings, image tower) is trained: with the backbone frozen and an output matrix or an action
expert trained on top, the backbone runs forward only (knowledge insulation, Driess et al., 2025, arXiv 2505.23705).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from rlopt.estimates.arrays import Training
from rlopt.estimates.shape import ModelShape
from rlopt.request import Request, Trainable
from rlopt.workloads import Role

INT4_BYTES = 0.55
"""Bytes of a 4-bit base weight with its scales."""
SIXTEEN_BITS = 2.0
BELOW = ("vision", "embeddings", "backbone")
"""Parts whose training sends gradients through the layers."""
MULTIPLIED = ("vision", "backbone", "action")
"""Parts of the layers; the embedding table is only looked up, and the output matrix counts for itself."""
POLICY = ("policy", "action")
"""Roles that together are the policy: `job.trainable` speaks of them."""


def role_shape(role: Role) -> ModelShape:
    """Shape of a role's model, with its own output matrix and the image tower's work where it sees images."""
    shape = ModelShape.of(role.model)
    if role.outputs is not None:
        shape = shape.with_outputs(role.outputs)
    if role.model.vision is not None and role.patches_per_token > 0.0:
        shape = shape.with_images(role.model.vision, role.patches_per_token)
    return shape


def part_params(role: Role) -> dict[str, float]:
    """Weights of a role by the parts that may be frozen; they add up to its model's. A tied table is embeddings."""
    shape, model = role_shape(role), role.model
    if role.part == "action":
        return {"action": float(shape.params)}
    parts = {
        "vision": model.vision.params if model.vision else 0.0,
        "action": float(model.action_params),
        "embeddings": float(shape.embedding),
        "head": float(shape.head * (1.0 - shape.tied)),
    }
    return {**parts, "backbone": max(float(shape.params) - sum(parts.values()), 0.0)}


def frozen_parts(role: Role, trainable: Trainable) -> frozenset[str]:
    """Parts of ``role`` that stay as they are.

    A table that is embedding and head is frozen with either. Below an action expert the embeddings belong to the
    backbone: insulated, all of the vision-language model stays as it is.
    """
    if trainable.kind != "frozen" or role.name not in POLICY:
        return frozenset()
    frozen = frozenset(trainable.frozen)
    tied = role.outputs is None and role.model.tie_embeddings
    table = (tied and "head" in frozen) or (role.part == "backbone" and "backbone" in frozen)
    return frozen | {"embeddings"} if table else frozen


def trained_params(role: Role, trainable: Trainable) -> float:
    """Parameters of ``role`` that are trained, which is what its checkpoints must hold; 0 for a frozen role."""
    if not role.trained:
        return 0.0
    if trainable.kind == "lora" and role.name in POLICY:
        return float(role_shape(role).lora_params(trainable.lora_rank or 1))
    frozen = frozen_parts(role, trainable)
    return sum(count for part, count in part_params(role).items() if part not in frozen)


def moved_params(roles: Iterable[Role], trainable: Trainable) -> float:
    """Weights of ``roles`` that change from step to step, so that an engine must be sent them anew.

    Adapters are merged into their base before they are sent, so that under LoRA all weights are.
    """
    if trainable.kind == "lora":
        return sum(sum(part_params(role).values()) for role in roles if role.trained)
    return sum(trained_params(role, trainable) for role in roles)


def trainable_share(role: Role, trainable: Trainable) -> float:
    """Share of a role's weights that are trained (adapters against all weights under LoRA)."""
    return trained_params(role, trainable) / sum(part_params(role).values())


def role_training(request: Request, role: Role) -> Training:
    """What is trained of ``role``: policy and action expert as `job.trainable` says, critic and value model in full.

    The scalar head of a reward model under LoRA, one row, is left out.
    """
    job = request.job
    trainable, in_loop = job.trainable, job.generates
    if trainable.kind == "full" or role.name not in POLICY:
        return Training("full", optimizer=job.optimizer, in_loop=in_loop)
    if trainable.kind == "lora":
        base = INT4_BYTES if trainable.base == "int4" else SIXTEEN_BITS
        rank = trainable.lora_rank or 1
        return Training("lora", lora_rank=rank, base_bytes=base, optimizer=job.optimizer, in_loop=in_loop)
    return frozen_training(part_params(role), frozen_parts(role, trainable), job.optimizer, in_loop)


def frozen_training(
    parts: Mapping[str, float], frozen: Collection[str], optimizer: str, in_loop: bool = False
) -> Training:
    """Training of a model of ``parts`` (weights by part) all of which but the ``frozen`` ones are trained.

    A frozen action expert still passes gradients on to the backbone that it reads from.
    """
    trained = {part: count for part, count in parts.items() if part not in frozen and count > 0.0}
    layers = sum(parts.get(part, 0.0) for part in MULTIPLIED)
    top = "head" if parts.get("head") else "embeddings"  # a tied table is its own output matrix
    share = sum(trained.values()) / sum(parts.values())
    return Training(
        "frozen-part",
        optimizer=optimizer,
        trainable_share=share,
        in_loop=in_loop,
        gemm_share=sum(trained.get(part, 0.0) for part in MULTIPLIED) / layers if layers else 0.0,
        head_share=float(top in trained),
        backward=any(part in trained for part in BELOW) or ("action" in parts and "backbone" not in parts),
        frozen_bytes=SIXTEEN_BITS if share == 0.0 else None,
    )
