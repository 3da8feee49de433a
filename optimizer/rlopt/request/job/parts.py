"""Parts of a job that only some jobs have: images, actions, environments, fallback, evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from rlopt.request.values.kinds import NotNegative, PartShare, Positive, Share, Switch, Whole, refuse, unique
from rlopt.request.values.lengths import Calls, Span
from rlopt.request.values.quantities import Cash, Frequency, Size
from rlopt.strict import Strict
from rlopt.words import ActionHead, AttentionKernel, EnvironmentKind, LossKernel, Processor


class VisionInput(Strict):
    """Images of one observation."""

    image_size: Whole
    """Pixels on a side."""
    cameras: Whole = 1
    """Images per observation."""
    patch: Whole = 14
    """Pixels on a side of one patch (ViT-L/14 and SigLIP-so400m use 14)."""
    tokens_per_image: Whole
    """Language tokens of one image; (image_size / patch)² when left out, which means no pooling."""
    bytes_per_frame: Size | None = None
    """One image of one camera as it is encoded, before job.data.compression_ratio; the catalog's assumption of 0.1
    bytes a pixel when left out."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("tokens_per_image") is None:
            size, patch = value.get("image_size"), value.get("patch", 14)
            if type(size) is int and type(patch) is int and 0 < patch <= size:
                return {**value, "tokens_per_image": (size // patch) ** 2}
        return value

    @model_validator(mode="after")
    def _fits(self) -> VisionInput:
        most = (self.image_size // self.patch) ** 2
        if self.tokens_per_image > max(most, 1):
            message = f"{self.tokens_per_image} tokens_per_image of an image of {most} patches"
            raise refuse(message, f"at most {most}", f"write tokens_per_image: {most}")
        return self

    @property
    def tokens(self) -> int:
        """Language tokens of one observation, all cameras."""
        return self.cameras * self.tokens_per_image


class Action(Strict):
    """How a vla policy acts."""

    head: ActionHead
    """flow: several denoising steps; one_step: a single one; tokens: autoregressive action tokens."""
    flow_steps: Whole | None = None
    """Denoising steps of one inference (flow); 1 for one_step."""
    chunk: Whole
    """Actions that one inference yields."""
    tokens_per_action: Whole | None = None
    """Tokens of one action (tokens)."""
    frequency: Frequency
    """Actions a second on the robot's clock, in Hz."""
    policy_loss: Literal["awr", "ppo", "advantage_conditioned"] = "awr"
    """awr: actions weighted by advantage | advantage_conditioned: advantage as an input | ppo: needs a likelihood."""

    @model_validator(mode="after")
    def _fits(self) -> Action:
        if self.head == ActionHead.FLOW and self.flow_steps is None:
            message = "a flow head needs flow_steps"
            raise refuse(message, "head: flow with flow_steps", "add flow_steps: 10")
        if self.head == ActionHead.TOKENS and self.tokens_per_action is None:
            message = "a token head needs tokens_per_action"
            raise refuse(message, "head: tokens with tokens_per_action", "add tokens_per_action: 7")
        return self


class Offline(Strict):
    """Stored trajectories on which the value model is trained before the first step."""

    samples: Whole
    """Trajectories, as long as those of the job."""
    epochs: Whole = 1
    """Passes over them."""


class Filter(Strict):
    """Samples dropped before the policy is updated."""

    drop: PartShare = 0.0
    """Share of samples that are dropped."""
    before_storage: Switch = False
    """Dropped samples are not stored either: the value model scores all of them where they are collected."""


class Environment(Strict):
    """What a policy acts on while it samples."""

    kind: EnvironmentKind
    """tools: calls between generated tokens; simulator: stepped on machines; robot: real time."""
    runs_on: Processor = Processor.CPU
    """Machines that run it."""
    instances: Whole | None = None
    """Copies that run at once; the program chooses when left out (tools, simulator; robots must be counted)."""
    vcpus_per_instance: Positive | None = None
    """Virtual CPUs of one copy."""
    memory_per_instance: Size | None = None
    """Memory of one copy, in bytes."""
    steps_per_second: Positive | None = None
    """Environment steps a second of one copy (simulator)."""
    calls_per_sample: Calls | None = None
    """Tool calls of one sample (tools)."""
    seconds_per_call: Span | None = None
    """Duration of one call, in seconds (tools)."""
    tokens_per_call: NotNegative | None = None
    """Tokens that one call's output adds to the context (tools)."""

    @model_validator(mode="after")
    def _fits(self) -> Environment:
        needs = {
            EnvironmentKind.TOOLS: ("calls_per_sample", "seconds_per_call"),
            EnvironmentKind.SIMULATOR: ("steps_per_second",),
            EnvironmentKind.ROBOT: ("instances",),
        }[self.kind]
        missing = [name for name in needs if getattr(self, name) is None]
        if missing:
            message = f"kind {self.kind} needs {' and '.join(missing)}"
            raise refuse(message, f"{', '.join(needs)} given", f"add {missing[0]}")
        foreign = {
            EnvironmentKind.TOOLS: ("steps_per_second",),
            EnvironmentKind.SIMULATOR: ("calls_per_sample", "seconds_per_call", "tokens_per_call"),
            EnvironmentKind.ROBOT: ("calls_per_sample", "seconds_per_call", "tokens_per_call", "steps_per_second"),
        }[self.kind]
        extra = [name for name in foreign if getattr(self, name) is not None]
        if extra:
            message = f"{extra[0]} does not apply to kind {self.kind}"
            raise refuse(message, f"keys of kind {self.kind}", f"delete {extra[0]}")
        return self


class Kernels(Strict):
    """Kernels of the training stack that decide memory and time."""

    loss: LossKernel = LossKernel.WHOLE
    """whole: logits of a micro-batch are held at once | chunked: a fused or chunked loss never holds them whole."""
    attention: AttentionKernel = AttentionKernel.FUSED
    """fused: flash attention | plain: the scores of all pairs are held in memory."""


class KernelChoices(Strict):
    """Kernels to choose from, where the training stack has both; those of job.kernels when left out."""

    loss: Annotated[tuple[LossKernel, ...], Field(min_length=1), AfterValidator(unique)] | None = None
    """whole, chunked."""
    attention: Annotated[tuple[AttentionKernel, ...], Field(min_length=1), AfterValidator(unique)] | None = None
    """fused, plain."""


class Fallback(Strict):
    """Steps that leave the low precision for bf16 because its results drift."""

    share_of_steps: Share = 0.0
    """Share of steps whose scoring and rollout run at bf16 instead of a lower precision."""


class Evaluation(Strict):
    """Evaluation runs during training."""

    every: Whole
    """Steps between two evaluations."""
    samples: Whole
    """Responses that one evaluation samples."""
    build_price: Cash | None = None
    """Price of building the evaluation set, once for all runs; none when left out."""
