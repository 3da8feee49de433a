"""Vision-language-action policies that learn from their own trajectories.

After RECAP (pi*0.6, Physical Intelligence, 2025, arXiv 2511.14759, algorithm 1): collect trajectories, score their
frames with a value model of B bins, train it on what the filter keeps, and train the policy on the kept samples, one
an inference. A token head speaks through the backbone: an action expert of the same model is then left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlopt.errors import NotSupportedError
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.acting import Acting, acting
from rlopt.workloads.contract import Role, Stage, Workload
from rlopt.workloads.lengths import Lengths
from rlopt.workloads.online import sampled_share
from rlopt.workloads.policy_loss import likelihood, unrolled
from rlopt.workloads.policy_parts import backbone_of, expert_of
from rlopt.workloads.shared_value import reads_with_policy, trunk

NAME = "vla"
NO_OUTPUTS = 0
"""Beside an action expert the backbone puts out no words."""


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Backbone and action expert of the policy, value model where there is one.

    generate(policy) beside environment, forward(value), update(value), what the policy's loss needs, update(policy)
    and update(action).
    """
    acts = acting(request)
    if acts is None:
        raise NotSupportedError("job.action", "vla needs to know how its policy acts")
    seen = observed(request, acts, 0.0)
    roles, updates = _policy(request, models["policy"], acts, seen)
    stages = [
        Stage(StageKind.SAMPLE, "policy", seen, per_sample=sampled_share(request)),
        Stage(StageKind.ENVIRONMENT, "policy", seen, per_sample=sampled_share(request)),
    ]
    if "value" in models:
        role = _value(request, models["value"], acts)
        roles += (role,)
        kept, below = common.kept_share(request), trunk(request, roles, seen, acts.frames)
        stages += [*below, Stage(StageKind.SCORE, "value", seen, per_sample=acts.frames)]
        if not reads_with_policy(request, acts):  # else the policy's own update reads the backbone for both
            stages += [replace(stage, share=kept) for stage in below]
        stages.append(_update(request, "value", seen, acts.frames, kept))
    stages += likelihood(request, updates)
    sizes = request.group_sizes
    return Workload(
        NAME,
        roles,
        (*stages, *updates),
        request.job.prompts_per_step,
        sizes,
        common.steps_by_group_size(request, sizes),
        acting=acts,
        instances=common.instances(request),
        evaluation=common.evaluation(request, seen),
        fallback_share=common.fallback_share(request),
        loads=common.load(seen, request.job.cache_hit_rate) if request.job.reads_stored else None,
    )


def observed(request: Request, acts: Acting, actions: float) -> Lengths:
    """Tokens of one observation, and of the actions that follow it through the same layers."""
    return Lengths(
        acts.observation_tokens,
        acts.observation_tokens_max,
        actions,
        actions,
        request.job.packing,
    )


def _update(request: Request, role: str, lengths: Lengths, per_sample: float, share: float) -> Stage:
    job = request.job
    return Stage(StageKind.TRAIN, role, lengths, per_sample, job.updates_per_step, job.ppo_epochs, share)


def _policy(request: Request, model: Model, acts: Acting, seen: Lengths) -> tuple[tuple[Role, ...], tuple[Stage, ...]]:
    """The policy's roles and updates: one sample an inference, action tokens through the expert alone."""
    kept, count = common.kept_share(request), acts.inferences_mean
    expert = None if acts.head == "tokens" else expert_of(model)
    patches = acts.patches_per_token if model.vision else 0.0
    actions = float(acts.action_tokens * unrolled(request, acts))
    if expert is None:
        lengths = observed(request, acts, actions)
        outputs = None if acts.head == "tokens" else NO_OUTPUTS
        role = Role("policy", backbone_of(model), True, outputs=outputs, patches_per_token=patches)
        return (role,), (_update(request, "policy", lengths, count, kept),)
    chunk = Lengths(actions, actions, 0.0, 0.0, request.job.packing)
    backbone = Role("policy", backbone_of(model), True, outputs=NO_OUTPUTS, part="backbone", patches_per_token=patches)
    return (
        (backbone, Role("action", expert, True, outputs=NO_OUTPUTS, part="action")),
        (_update(request, "policy", seen, count, kept), _update(request, "action", chunk, count, kept)),
    )


def _value(request: Request, model: Model, acts: Acting) -> Role:
    """The value model: a distribution over bins takes the place of the vocabulary."""
    bins = request.value_bins
    if not bins:
        raise NotSupportedError("choices.value_bins", "a value model needs its bins; give choices or floors.value_bins")
    return Role(
        "value", model, True, outputs=bins[0], patches_per_token=acts.patches_per_token if model.vision else 0.0
    )
