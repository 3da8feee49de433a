"""Models to choose among: entries of a role that more than one model is good enough for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from rlopt.request.job.trainable import Trainable
from rlopt.request.values.kinds import Name, NotNegative, Positive, Share, Whole, is_written, refuse, unique
from rlopt.request.values.lengths import Length
from rlopt.request.values.quantities import Pause, Size
from rlopt.request.values.refs import ModelRef
from rlopt.strict import Strict

OPEN_ROLES: Final = ("reward", "teacher", "value")
"""Roles whose model may be a choice; an algorithm has at most one of them."""


class CpuScoring(Strict):
    """A reward model on machines without GPUs, as it was measured; nothing is assumed.

    floors.score_precision speaks of GPUs: here the precision is that of the measurement.
    """

    vcpu_seconds_per_sample: Positive
    """vCPU-seconds to score one sample: measured on the machines in mind."""
    vcpus: Positive
    """vCPUs of one process that scores."""
    processes: Annotated[tuple[Whole, ...], Field(min_length=1), AfterValidator(unique)] = (1, 2, 4, 8, 16, 32, 64)
    """Numbers of processes to choose from; a step waits until they have scored its samples."""
    memory: Size | None = None
    """Memory of one process in bytes; its weights in bf16 when left out."""


class TeacherTraining(Strict):
    """How the teacher is made: supervised fine-tuning on machines of its own, solved as a phase of its own."""

    algorithm: Literal["sft"] = "sft"
    """sft."""
    prompts_per_step: Whole
    """Sequences of one step."""
    steps: Whole | None = None
    """Steps; exactly one of steps, and epochs with dataset_samples."""
    epochs: Positive | None = None
    """Passes over dataset_samples."""
    dataset_samples: Whole | None = None
    """Sequences of the data set."""
    remedial_share: NotNegative = 0.0
    """Tokens trained again against forgetting, as a share of the phase's own; at 0 the teacher forgets a little."""
    prompt_tokens: Length | None = None
    """Tokens of a prompt; the job's when left out."""
    response_tokens: Length | None = None
    """Tokens of a response; the job's when left out."""
    trainable: Trainable = Trainable(kind="full")
    """full | {lora_rank: 32, base: bf16|int4} | {frozen: [...]}."""
    trials: Whole = 1
    """Expected full runs of the phase, tuning included."""
    deadline: Pause | None = None
    """Longest time of the phase, at the request's confidence; it ends before the job starts, and the job's own deadline
    does not count it."""
    shared_by: Whole = 1
    """Runs that learn from this teacher; each carries its part of the phase's bill."""

    @property
    def whole_steps(self) -> int:
        """Steps of one run: as given, or ceil(epochs × dataset_samples / prompts_per_step)."""
        if self.steps is not None:
            return self.steps
        passes = Fraction(str(self.epochs or 0.0)) * (self.dataset_samples or 0)
        return max(1, math.ceil(passes / self.prompts_per_step))

    @model_validator(mode="after")
    def _length(self) -> TeacherTraining:
        known = self.steps is not None, self.epochs is not None
        if sum(known) != 1 or (self.epochs is not None) != (self.dataset_samples is not None):
            message = "teacher_training does not say how long it is in one way"
            raise refuse(message, "steps, or epochs with dataset_samples", "write steps: 500")
        return self


class ModelOption(Strict):
    """One model of a choice, with what is known of it."""

    model: ModelRef
    """Catalog id or alias, path to a config.json, or inline fields."""
    name: Name | None = None
    """Name that reports print; the model's own when left out."""
    accuracy: Share | None = None
    """Measured accuracy that floors.reward_quality is held against (reward)."""
    convergence: dict[Whole, Whole] | None = None
    """Group size to steps with this model, in place of the job's; {1: 600} where there are no groups."""
    cpu: CpuScoring | None = None
    """What scoring on machines without GPUs takes (reward); not offered when left out."""
    teacher_training: TeacherTraining | None = None
    """How the teacher is made (opd): none, or the phase that trains it."""

    @model_validator(mode="before")
    @classmethod
    def _trained(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and value.get("teacher_training") == "none":
            return {key: inner for key, inner in value.items() if key != "teacher_training"}
        return value

    @property
    def label(self) -> str:
        """Name in plans and messages."""
        return self.name or self.model.label


class ModelChoice(ModelRef):
    """A model, one model with what is known of it, or a list of models among which the plan chooses."""

    options: tuple[ModelOption, ...] = ()
    """Models to choose among; none where one model is given plainly."""

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, (list, tuple)):
            if not value:
                message = "the list is empty: no model could be chosen"
                raise refuse(message, "at least one model", "name one")
            return {"options": tuple(_entry(entry) for entry in value)}
        if isinstance(value, ModelRef) and not isinstance(value, ModelChoice):
            return {key: getattr(value, key) for key in ModelRef.model_fields}
        if isinstance(value, Mapping) and "model" in value:
            return {"options": (value,)}
        if isinstance(value, Mapping) and "options" in value and not is_written(info):
            return value
        return ModelRef.as_written(value, info)

    @model_validator(mode="after")
    def _one(self) -> ModelChoice:
        if not self.options:
            self.exactly_one()
            return self
        labels = [option.label for option in self.options]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            message = f"{twice} stands twice in the choice"
            raise refuse(
                message, "models with names of their own", "delete one, or give it a name: {model: ..., name: ...}"
            )
        keyword = next((option.model.keyword for option in self.options if option.model.keyword), None)
        if keyword is not None:
            message = f"{keyword} is no model to choose among others"
            raise refuse(message, "models", f"write {keyword} alone, or take it out of the list")
        if any(option.model.shared for option in self.options):
            message = "a head on the policy's backbone is not chosen among models of their own"
            raise refuse(
                message, "models of their own", "write {share: backbone, head: 400M} alone: plan both, and compare"
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        plain = ModelRef.__get_pydantic_json_schema__(ModelRef.__pydantic_core_schema__, handler)["anyOf"]
        known = handler(ModelOption.__pydantic_core_schema__)
        one = [*plain, known]
        several = {"type": "array", "minItems": 1, "items": {"anyOf": deepcopy(one)}}
        return {"anyOf": [*one, several], "description": cls.__doc__ or ""}

    @property
    def label(self) -> str:
        """Name for messages."""
        return " or ".join(option.label for option in self.options) if self.options else super().label


def _entry(entry: Any) -> Any:
    if isinstance(entry, ModelOption) or (isinstance(entry, Mapping) and "model" in entry):
        return entry
    return {"model": entry}
