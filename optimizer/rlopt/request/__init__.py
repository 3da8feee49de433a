"""What the user asks: frozen records in canonical units (seconds, bytes, bits per second, hertz, `Money`)."""

from __future__ import annotations

from rlopt.request.choices import PLACEMENTS, Choices, PrecisionChoices
from rlopt.request.costs import Costs, KeepFor, SetupHours
from rlopt.request.floors import (
    PRECISION_RANK,
    TIGHTNESS,
    CheckpointFloors,
    Floors,
    informative_group_size,
)
from rlopt.request.job import GENERATING, SEQUENCES_PER_SAMPLE, Job
from rlopt.request.lengths import NO_TEXT, Calls, Length, Span, Trajectory
from rlopt.request.limits import Limits, Quota
from rlopt.request.models import ROLE_DEFAULTS, ROLES, InlineMla, InlineModel, ModelRef, Models
from rlopt.request.parts import Action, DataWork, Environment, Evaluation, Filter, VisionInput
from rlopt.request.request import FILLED_IN, Request
from rlopt.request.source import Source
from rlopt.request.trainable import Trainable
from rlopt.units import Money

__all__ = [
    "FILLED_IN",
    "GENERATING",
    "NO_TEXT",
    "PLACEMENTS",
    "PRECISION_RANK",
    "ROLES",
    "ROLE_DEFAULTS",
    "SEQUENCES_PER_SAMPLE",
    "TIGHTNESS",
    "Action",
    "Calls",
    "CheckpointFloors",
    "Choices",
    "Costs",
    "DataWork",
    "Environment",
    "Evaluation",
    "Filter",
    "Floors",
    "InlineMla",
    "InlineModel",
    "Job",
    "KeepFor",
    "Length",
    "Limits",
    "ModelRef",
    "Models",
    "Money",
    "PrecisionChoices",
    "Quota",
    "Request",
    "SetupHours",
    "Source",
    "Span",
    "Trainable",
    "Trajectory",
    "VisionInput",
    "informative_group_size",
]
