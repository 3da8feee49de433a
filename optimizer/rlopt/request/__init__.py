"""What the user asks: frozen records in canonical units (seconds, bytes, bits per second, hertz, `Money`)."""

from __future__ import annotations

from rlopt.request.budgets import Budgets
from rlopt.request.choices import Choices, PrecisionChoices
from rlopt.request.costs import AutomaticRelease, Costs, Idle, KeepFor, SetupHours
from rlopt.request.floors import (
    FLOOR_GROUPS,
    TIGHTNESS,
    CheckpointFloors,
    CoreMetrics,
    Floors,
    informative_group_size,
)
from rlopt.request.job.cache import Cache
from rlopt.request.job.data_life import Compression, Squeeze
from rlopt.request.job.data_work import DataStore, DataWork, Inspect, Pairs, Prepare, StandsIn, Versions
from rlopt.request.job.job import GENERATING, SEQUENCES_PER_SAMPLE, Job
from rlopt.request.job.metrics import Metrics, TextLog
from rlopt.request.job.models import ROLE_DEFAULTS, ROLES, InlineMla, InlineModel, ModelChoice, ModelRef, Models
from rlopt.request.job.options import OPEN_ROLES, CpuScoring, ModelOption, TeacherTraining
from rlopt.request.job.parts import Action, Environment, Evaluation, Fallback, Filter, Offline, VisionInput
from rlopt.request.job.records import Dashboards, LogsTo, Traces
from rlopt.request.job.trainable import Trainable
from rlopt.request.job.waiting import CutOff, Pilots, Wait
from rlopt.request.limits import Limits, Quota
from rlopt.request.recovery import CheckpointChoices, Recovery
from rlopt.request.request import FILLED_IN, Request, Spent, UserConstants
from rlopt.request.values.key_places import KeyPlaces
from rlopt.request.values.lengths import NO_TEXT, Calls, Length, Response, Span, Trajectory
from rlopt.request.values.steps_table import by_head
from rlopt.units import Money

__all__ = [
    "FILLED_IN",
    "FLOOR_GROUPS",
    "GENERATING",
    "NO_TEXT",
    "OPEN_ROLES",
    "ROLES",
    "ROLE_DEFAULTS",
    "SEQUENCES_PER_SAMPLE",
    "TIGHTNESS",
    "Action",
    "AutomaticRelease",
    "Budgets",
    "Cache",
    "Calls",
    "CheckpointChoices",
    "CheckpointFloors",
    "Choices",
    "Compression",
    "CoreMetrics",
    "Costs",
    "CpuScoring",
    "CutOff",
    "Dashboards",
    "DataStore",
    "DataWork",
    "Environment",
    "Evaluation",
    "Fallback",
    "Filter",
    "Floors",
    "Idle",
    "InlineMla",
    "InlineModel",
    "Inspect",
    "Job",
    "KeepFor",
    "KeyPlaces",
    "Length",
    "Limits",
    "LogsTo",
    "Metrics",
    "ModelChoice",
    "ModelOption",
    "ModelRef",
    "Models",
    "Money",
    "Offline",
    "Pairs",
    "Pilots",
    "PrecisionChoices",
    "Prepare",
    "Quota",
    "Recovery",
    "Request",
    "Response",
    "SetupHours",
    "Span",
    "Spent",
    "Squeeze",
    "StandsIn",
    "TeacherTraining",
    "TextLog",
    "Traces",
    "Trainable",
    "Trajectory",
    "UserConstants",
    "Versions",
    "VisionInput",
    "Wait",
    "by_head",
    "informative_group_size",
]
