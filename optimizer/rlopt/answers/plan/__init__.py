"""The answer in domain words: what `rlopt solve` prints and the audit reads.

Field names are fixed (schema ``rlopt.plan/1``); readers outside the project rely on them. Money is USD,
memory GiB per GPU, time in the unit the field's name ends with.
"""

from __future__ import annotations

from rlopt.answers.plan.answer import FoundPlan, Frontier, Plan, SolverSummary, Status
from rlopt.answers.plan.bill import BillLine, Cost, Dimension, Kind
from rlopt.answers.plan.bindings import Binding, Relaxation
from rlopt.answers.plan.decided import (
    CheckpointDecision,
    Decisions,
    Kept,
    LoadDecision,
    LoggingDecision,
    Move,
    PrecisionDecision,
    TierUse,
)
from rlopt.answers.plan.machines import LayoutChoice, Memory, Pool
from rlopt.answers.plan.outlook import (
    Certainty,
    FrontierPoint,
    Peak,
    PerPoint,
    PhaseUsed,
    RightPlan,
    Stressed,
    WorstCase,
)
from rlopt.answers.plan.run import BilledRun, PlannedParts, PlannedRun
from rlopt.answers.plan.sources import CatalogUsed, ErrorBand, PlanProvenance, PriceUsed
from rlopt.answers.plan.timing import StageTime, Time

__all__ = [
    "BillLine",
    "BilledRun",
    "Binding",
    "CatalogUsed",
    "Certainty",
    "CheckpointDecision",
    "Cost",
    "Decisions",
    "Dimension",
    "ErrorBand",
    "FoundPlan",
    "Frontier",
    "FrontierPoint",
    "Kept",
    "Kind",
    "LayoutChoice",
    "LoadDecision",
    "LoggingDecision",
    "Memory",
    "Move",
    "Peak",
    "PerPoint",
    "PhaseUsed",
    "Plan",
    "PlanProvenance",
    "PlannedParts",
    "PlannedRun",
    "Pool",
    "PrecisionDecision",
    "PriceUsed",
    "Relaxation",
    "RightPlan",
    "SolverSummary",
    "StageTime",
    "Status",
    "Stressed",
    "TierUse",
    "Time",
    "WorstCase",
]
