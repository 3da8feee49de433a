"""The roles of a job, and which of them each algorithm has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rlopt.request.job.options import ModelChoice
from rlopt.request.values.refs import InlineMla, InlineModel, ModelRef
from rlopt.strict import Strict
from rlopt.words import AlgorithmName


class Models(Strict):
    """The job's roles; which of them an algorithm has is told by `rlopt.request.ROLES`."""

    policy: ModelRef
    """The model to train: the student in opd, the reward model itself in rm."""
    reference: ModelRef | None = None
    """Frozen model of the KL term (dpo, ppo, grpo); policy when left out."""
    reward: ModelChoice | None = None
    """What scores a sample (ppo, grpo): rule, none, a model, or a list of models to choose among."""
    critic: ModelRef | None = None
    """Value model that is trained beside the policy (ppo): policy (its own copy) or a model."""
    teacher: ModelChoice | None = None
    """Model whose log-probabilities the student learns from (opd), or a list of models to choose among."""
    value: ModelChoice | None = None
    """Value model of a vla job: none when left out, a model or a list of them, or {share: backbone, head: 400M}."""

    def given(self) -> dict[str, ModelRef]:
        """Roles that are set and not `none`, by name."""
        pairs = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {name: ref for name, ref in pairs if ref is not None and not ref.is_none}


ROLES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    AlgorithmName.SFT: {"policy": ()},
    AlgorithmName.RM: {"policy": ()},
    AlgorithmName.DPO: {"policy": (), "reference": ("policy", "none")},
    AlgorithmName.PPO: {
        "policy": (),
        "reference": ("policy", "none"),
        "reward": ("rule", "none"),
        "critic": ("policy",),
    },
    AlgorithmName.GRPO: {"policy": (), "reference": ("policy", "none"), "reward": ("rule", "none")},
    AlgorithmName.OPD: {"policy": (), "teacher": ()},
    AlgorithmName.VLA: {"policy": (), "value": ("none",)},
}
"""Roles of each algorithm and the keywords that may stand in a model's place."""

ROLE_DEFAULTS: Final[Mapping[str, str]] = {"reference": "policy", "value": "none"}
"""Roles that may be left out, and what then holds; the others are required."""

__all__ = ["ROLES", "ROLE_DEFAULTS", "InlineMla", "InlineModel", "ModelChoice", "ModelRef", "Models"]
