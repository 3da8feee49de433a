"""A value model on the policy's frozen backbone: the backbone's weights are held once, and a head of B weights trains.

The head reads what the backbone makes of each token of an observation. Features are not kept from one pass to the
next: those of a step's frames would take hundreds of GiB. Where the policy is trained on the very frames that are
scored, one pass of the backbone serves both updates; where its engine screens them, one inference serves both the
action and the value. A policy conditioned on its advantage reads another prompt than the value does, and shares
nothing but weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from rlopt.errors import NotSupportedError
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.acting import Acting
from rlopt.workloads.contract import Role, Stage
from rlopt.workloads.lengths import Lengths
from rlopt.workloads.policy_parts import backbone_of


def head_model(policy: Model, weights: int) -> Model:
    """The head: as many of the backbone's own layers as its weights make, at least one.

    ``weights`` win for memory and FLOPs, the layers' shape for activations.

    Raises
    ------
    NotSupportedError
        Where the policy has no action expert: with its backbone frozen nothing of it would be trained.
    """
    if not policy.action_params:
        raise NotSupportedError("job.models.value", "sharing the backbone needs a policy with action_params of its own")
    trunk = backbone_of(policy)
    matrices = 3 if trunk.gated else 2
    wide = trunk.ffn or trunk.active_experts * trunk.expert_ffn + trunk.shared_expert_ffn
    layer = trunk.hidden * (2 * trunk.head_dim * (trunk.heads + trunk.kv_heads) + matrices * wide)
    layers = min(max(round(weights / layer), 1), trunk.layers)
    return Model(
        name=f"value head on {policy.name}",
        hf_id="",
        params=float(weights),
        active_params=float(weights),
        layers=layers,
        hidden=trunk.hidden,
        heads=trunk.heads,
        kv_heads=trunk.kv_heads,
        head_dim=trunk.head_dim,
        ffn=wide,
        gated=trunk.gated,
        vocab=0,
        attention_layers=float(layers),
        source="request",
    )


def shares(request: Request) -> bool:
    """Whether the value model stands on the policy's backbone."""
    value = request.job.models.value
    return value is not None and value.shared is not None


def reads_with_policy(request: Request, acts: Acting) -> bool:
    """Whether the value and the policy see the same inputs: one frame an inference, and the same prompt."""
    action = request.job.action
    conditioned = action is not None and action.policy_loss == "advantage_conditioned"
    return shares(request) and not conditioned and isclose(acts.frames, acts.inferences_mean)


def trunk(request: Request, roles: Sequence[Role], seen: Lengths, frames: float) -> tuple[Stage, ...]:
    """The pass through the backbone below a value head; nothing where the value model is one of its own."""
    if not shares(request):
        return ()
    if not any(role.name == "action" for role in roles):
        raise NotSupportedError("job.models.value", "a token head trains the backbone, which a value head cannot share")
    return (Stage(StageKind.SCORE, "policy", seen, per_sample=frames),)


def value_params(request: Request, roles: Sequence[Role]) -> float:
    """Weights that a value passes through: the value model's own, and the backbone's below a head; 0 without one."""
    own = {role.name: role.model.params for role in roles}
    return own.get("value", 0.0) + (own["policy"] if shares(request) and "value" in own else 0.0)


def joined_update(request: Request, acts: Acting | None) -> bool:
    """Whether the head is updated in the pass that updates the policy, so that both hold their memory at once."""
    return acts is not None and reads_with_policy(request, acts)
