"""What an algorithm is: roles it keeps in memory and stages it runs per step. Everything else follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from rlopt.facts import Model
from rlopt.request import Request

StageKind = Literal["generate", "forward", "update", "environment"]
Precision = Literal["rollout", "score", "update"]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of one sequence as a stage meets it: prompt (and tool output) then response; percentiles where known."""

    prompt_mean: float
    prompt_max: float
    response_mean: float
    response_max: float
    packed: bool
    prompt_p99: float | None = None
    response_p99: float | None = None

    @property
    def mean(self) -> float:
        """Mean tokens of a whole sequence."""
        return self.prompt_mean + self.response_mean

    @property
    def longest(self) -> float:
        """Tokens of the longest sequence there is."""
        return self.prompt_max + self.response_max


@dataclass(frozen=True, slots=True)
class Role:
    """A model that the job keeps: ``weights`` is False where it shares another role's weights (LoRA reference)."""

    name: str
    model: Model
    trained: bool
    weights: bool = True


@dataclass(frozen=True, slots=True)
class Stage:
    """A kind of work on one role's model.

    ``per_sample``: sequences of this stage per sample of the step (two in dpo: chosen and rejected).
    ``updates`` optimizer steps share the step's sequences; ``epochs`` passes over them.
    """

    kind: StageKind
    role: str
    lengths: Lengths
    per_sample: float = 1.0
    updates: int = 1
    epochs: int = 1


@dataclass(frozen=True, slots=True)
class Tools:
    """Tool calls beside generation: seconds and machines."""

    calls_mean: float
    seconds_mean: float
    instances: int
    vcpus: float
    memory_bytes: float


@dataclass(frozen=True, slots=True)
class Workload:
    """A job's roles and stages; ``samples(k)`` and ``steps(k)`` give the volumes at group size k."""

    algorithm: str
    roles: tuple[Role, ...]
    stages: tuple[Stage, ...]
    prompts_per_step: int
    group_sizes: tuple[int, ...]
    steps: Mapping[int, int]
    tools: Tools | None = None

    @property
    def generates(self) -> bool:
        """Whether the job samples online."""
        return any(stage.kind == "generate" for stage in self.stages)

    def samples(self, group_size: int) -> float:
        """Samples of one step."""
        return float(self.prompts_per_step * group_size)

    def role(self, name: str) -> Role:
        """The role called ``name``."""
        return next(role for role in self.roles if role.name == name)

    def of_kind(self, kind: StageKind) -> tuple[Stage, ...]:
        """Stages of one kind, in order."""
        return tuple(stage for stage in self.stages if stage.kind == kind)


class Algorithm(Protocol):
    """A module of this package: one algorithm."""

    NAME: str

    def build(self, request: Request, models: Mapping[str, Model]) -> Workload:
        """Roles and stages of ``request``; ``models`` maps each role that is a model to its facts."""
        ...
