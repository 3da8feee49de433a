"""The answer in domain words: what `rlopt solve` prints and the audit reads.

Field names are fixed (schema ``rlopt.plan/1``); readers outside the project rely on them. Money is USD,
memory GiB per GPU, time in the unit the field's name ends with.
"""

from __future__ import annotations

from rlopt.plan.answer import Frontier, Plan, SolverSummary, Status
from rlopt.plan.bill import BillLine, Cost, Dimension, Kind
from rlopt.plan.decided import (
    CheckpointDecision,
    Decisions,
    Kept,
    LoadDecision,
    LoggingDecision,
    Move,
    PrecisionDecision,
    TierUse,
)
from rlopt.plan.held import Binding, Relaxation
from rlopt.plan.machines import LayoutChoice, Memory, Pool
from rlopt.plan.outlook import Certainty, FrontierPoint, Peak, PerPoint, PhaseUsed, RightPlan, Stressed, WorstCase
from rlopt.plan.sources import CatalogUsed, ErrorBand, PlanProvenance, PriceUsed
from rlopt.plan.timing import StageTime, Time

__all__ = [
    "BillLine",
    "Binding",
    "CatalogUsed",
    "Certainty",
    "CheckpointDecision",
    "Cost",
    "Decisions",
    "Dimension",
    "ErrorBand",
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
