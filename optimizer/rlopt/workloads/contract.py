"""What an algorithm is: roles it keeps in memory and stages it runs per step. Everything else follows from them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.acting import Acting
from rlopt.workloads.lengths import Lengths

Part = Literal["whole", "backbone", "action"]


@dataclass(frozen=True, slots=True)
class Role:
    """A model that the job keeps in memory.

    Parameters
    ----------
    trained
        Whether updates run through it. Which of its weights they change is told by `job.trainable`: a frozen
        backbone stands in the update of the expert on top of it and changes nothing.
    weights
        False where it shares another role's weights (a reference under LoRA).
    outputs
        Width of its output matrix: 1 for a score, B for a value model of B bins, 0 where nothing is put out;
        ``None`` = its vocabulary.
    part
        backbone | action where a vla policy is kept as its two parts; ``model`` is then the part alone.
    patches_per_token
        Image patches that the image tower reads per token of a sequence; 0 without images.
    """

    name: str
    model: Model
    trained: bool
    weights: bool = True
    outputs: int | None = None
    part: Part = "whole"
    patches_per_token: float = 0.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A kind of work on one role's model.

    Parameters
    ----------
    per_sample
        Sequences of this stage per sample of the step, cache hits taken off (two in dpo: chosen and rejected).
    updates, epochs
        Optimizer steps that share the step's sequences; passes over them.
    share
        Share of the sequences that the filter keeps. `Workload.sequences` multiplies it in, so nobody else has to.
    name
        What reports call the stage where its kind does not say enough; else empty.
    """

    kind: StageKind
    role: str
    lengths: Lengths
    per_sample: float = 1.0
    updates: int = 1
    epochs: int = 1
    share: float = 1.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tools:
    """Tool calls beside generation: seconds and machines. ``instances`` is the most there may be.

    A maximum below its mean says nothing: every sample then waits as long as the mean.
    """

    calls_mean: float
    seconds_mean: float
    instances: int
    vcpus: float
    memory_bytes: float
    calls_max: float = 0.0
    seconds_max: float = 0.0

    @property
    def wait_seconds(self) -> float:
        """Seconds that a sample waits for its calls on average."""
        return self.calls_mean * self.seconds_mean

    @property
    def most_seconds(self) -> float:
        """Seconds that no sample waits longer than: as many calls as there may be, each as long as one may be."""
        return max(self.calls_mean, self.calls_max) * max(self.seconds_mean, self.seconds_max)


@dataclass(frozen=True, slots=True)
class EvaluationPass:
    """``samples`` sequences of ``stage`` every ``every`` steps, outside the training samples."""

    stage: Stage
    every: int
    samples: int

    @property
    def sequences(self) -> float:
        """Sequences of one step, on average."""
        return self.samples / self.every


@dataclass(frozen=True, slots=True)
class Workload:
    """A job's roles and stages; ``samples(k)`` and ``steps(k)`` give the volumes at group size k.

    Parameters
    ----------
    tools, acting
        Tool calls beside generation; how a vla policy acts. ``None`` without.
    instances
        Copies of the environment to choose from; () without an environment.
    evaluation
        What is evaluated during training; ``None`` without.
    loads
        Samples of a step that are read from the data set or from what was stored; ``None`` where none is, or where
        they are a handful of prompts.
    fallback_share
        Share of steps whose sampling and scoring run in 16 bits instead of a lower precision.
    screening
        Passes of the value model over all samples in the pool that samples, apart from training; () without.
    """

    algorithm: str
    roles: tuple[Role, ...]
    stages: tuple[Stage, ...]
    prompts_per_step: int
    group_sizes: tuple[int, ...]
    steps: Mapping[int, int]
    tools: Tools | None = None
    acting: Acting | None = None
    instances: tuple[int, ...] = ()
    evaluation: EvaluationPass | None = None
    fallback_share: float = 0.0
    screening: tuple[Stage, ...] = ()
    loads: Stage | None = None

    @property
    def generates(self) -> bool:
        """Whether the job samples online."""
        return any(stage.kind == StageKind.SAMPLE for stage in self.stages)

    def samples(self, group_size: int) -> float:
        """Samples of one step."""
        return float(self.prompts_per_step * group_size)

    def sequences(self, stage: Stage, group_size: int) -> float:
        """Sequences of ``stage`` in one step: samples · per_sample · share."""
        return self.samples(group_size) * stage.per_sample * stage.share

    def role(self, name: str) -> Role:
        """The role called ``name``."""
        return next(role for role in self.roles if role.name == name)

    def of_kind(self, kind: StageKind) -> tuple[Stage, ...]:
        """Stages of one kind, in order."""
        return tuple(stage for stage in self.stages if stage.kind == kind)

    @property
    def structure_key(self) -> Hashable:
        """Equal for two workloads of one request whose memory and seconds of a step are the same."""
        roles = tuple((r.name, id(r.model), r.trained, r.weights, r.outputs) for r in self.roles)
        return roles, self.stages, self.prompts_per_step, self.group_sizes

    @property
    def sampling_key(self) -> Hashable:
        """Equal for two workloads of one request whose pools that sample take the same memory and seconds a step."""
        held = ("policy", "action", *(("value",) if self.screening else ()))
        roles = tuple((r.name, id(r.model), r.outputs, r.patches_per_token) for r in self.roles if r.name in held)
        return roles, self.of_kind(StageKind.SAMPLE), self.acting, self.screening, self.evaluation


class Algorithm(Protocol):
    """A module of this package: one algorithm."""

    NAME: str

    def build(self, request: Request, models: Mapping[str, Model]) -> Workload:
        """Roles and stages of ``request``; ``models`` maps each role that is a model to its facts."""
        ...
