"""Vocabularies: every closed set of names that requests, plans and catalogs write, each defined here and nowhere else.

A member is the string that files hold, so it goes wherever that string went: into a request, a plan, a table's key.
Arrays hold its `code`, its place in the vocabulary.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self


class Word(StrEnum):
    """A member of a vocabulary; requests read it as the literal that it is."""

    code: int
    """Place in the vocabulary: the integer in arrays."""

    def __init__(self, _: str) -> None:
        self.code = len(type(self).__members__)

    @classmethod
    def at(cls, code: int) -> Self:
        """The member of a code."""
        return tuple(cls)[code]

    def __repr__(self) -> str:
        return str.__repr__(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        literal = core_schema.literal_schema([member.value for member in cls])
        return core_schema.no_info_after_validator_function(cls, literal)


class Placement(Word):
    """How pools share a step: the same GPUs in turns, pools in turns, pools side by side."""

    COLOCATED = "colocated"
    DISAGGREGATED = "disaggregated"
    ASYNC = "async"


COLOCATED, DISAGGREGATED, ASYNC = (placement.code for placement in Placement)


class Precision(Word):
    """A number format of weights or arithmetic."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    FP4 = "fp4"
    INT4 = "int4"

    @property
    def rank(self) -> int:
        """Order under a floor: fp4 = int4 < fp8 = int8 < fp16 = bf16 < fp32."""
        bits = int(self.lstrip("bfinpt"))
        return {4: 0, 8: 1, 16: 2, 32: 3}[bits]


LOW_PRECISIONS = tuple(precision for precision in Precision if precision.rank < Precision.BF16.rank)
"""Those of less than 16 bits."""


class DataPrecision(Word):
    """How faithfully stored samples are kept, the finest first."""

    SOURCE = "source"
    BF16 = "bf16"
    JPEG95 = "jpeg95"
    JPEG90 = "jpeg90"
    JPEG75 = "jpeg75"

    @property
    def rank(self) -> int:
        """Order under a floor: jpeg75 < jpeg90 < jpeg95 < bf16 < source."""
        return len(DataPrecision) - 1 - self.code


class Offload(Word):
    """What moves to host memory."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    PARAMETERS = "parameters"


_, OPTIMIZER_OFF, PARAMETERS_OFF = (offload.code for offload in Offload)


class Sharding(Word):
    """Training state that data-parallel ranks split."""

    DDP = "ddp"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"


_, ZERO1, ZERO2, ZERO3 = (sharding.code for sharding in Sharding)


class Recompute(Word):
    """Activations that the backward pass computes again."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


_, SELECTIVE, FULL = (recompute.code for recompute in Recompute)


class StageKind(Word):
    """A kind of work in a step: load, sample, score, train, act on the environment."""

    LOAD = "load"
    SAMPLE = "generate"
    SCORE = "forward"
    TRAIN = "update"
    ENVIRONMENT = "environment"


class PoolRole(Word):
    """What a pool does first of all."""

    TRAIN = "train"
    SAMPLE = "rollout"
    SCORE = "score"

    @property
    def stage(self) -> StageKind:
        """The kind of work that such a pool is there for."""
        return StageKind[self.name]


class PricingKind(Word):
    """How a machine is paid for."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    RESERVED = "reserved"


Objective = Literal["cost", "time"]
"""What a plan is the least of."""


class Confidence(Word):
    """How sure a price is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Grade(Word):
    """Where a price comes from."""

    LIST = "list"
    MARKETPLACE = "marketplace"
    AGGREGATOR = "aggregator"


class Link(Word):
    """What joins the GPUs of a machine."""

    NONE = "none"
    PCIE = "pcie"
    NVLINK = "nvlink"
    NVSWITCH = "nvswitch"
    NVL72 = "nvl72"


class Processor(Word):
    """What runs an environment."""

    CPU = "cpu"
    GPU = "gpu"


class AlgorithmName(Word):
    """A kind of job."""

    SFT = "sft"
    DPO = "dpo"
    RM = "rm"
    PPO = "ppo"
    GRPO = "grpo"
    OPD = "opd"
    VLA = "vla"


class ActionHead(Word):
    """How a vla policy acts."""

    FLOW = "flow"
    ONE_STEP = "one_step"
    TOKENS = "tokens"


class EnvironmentKind(Word):
    """What a policy acts on while it samples."""

    TOOLS = "tools"
    SIMULATOR = "simulator"
    ROBOT = "robot"


class ModelPart(Word):
    """A part of a model that may be trained or frozen."""

    VISION = "vision"
    BACKBONE = "backbone"
    EMBEDDINGS = "embeddings"
    HEAD = "head"
    ACTION = "action"


class LossKernel(Word):
    """Whether the loss holds the logits of a micro-batch whole."""

    WHOLE = "whole"
    CHUNKED = "chunked"


class AttentionKernel(Word):
    """Whether attention holds the scores of all pairs."""

    FUSED = "fused"
    PLAIN = "plain"


class LogProbs(Word):
    """Log-probabilities of frozen models: each time again, or once and stored."""

    RECOMPUTE = "recompute"
    STORED = "stored"


class Scoring(Word):
    """Where teacher and reward models score."""

    SHARED = "shared"
    OWN = "own"
    CPU = "cpu"
