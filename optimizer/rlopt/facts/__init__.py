"""Frozen records: facts about the world with value, unit, source and date."""

from __future__ import annotations

from rlopt.facts.calibration import Calibration
from rlopt.facts.catalog import Catalog
from rlopt.facts.device import PRECISIONS, Device
from rlopt.facts.launcher import Launcher, SkyPilotNames
from rlopt.facts.measured import MeasuredNames, PrintedMachine
from rlopt.facts.model import Mla, Model, Vision
from rlopt.facts.network import Traffic
from rlopt.facts.node import Nodes
from rlopt.facts.offer import CpuOffer, Offer, Shape
from rlopt.facts.operations import Operations
from rlopt.facts.parameters import ParameterCount, parameter_count
from rlopt.facts.provenance import Provenance
from rlopt.facts.reliability import FailureRate
from rlopt.facts.service import CachePrice, Commitment, LogPrice
from rlopt.facts.storage import StorageTier, Store
from rlopt.facts.storage_speed import StorageSpeed

__all__ = [
    "PRECISIONS",
    "CachePrice",
    "Calibration",
    "Catalog",
    "Commitment",
    "CpuOffer",
    "Device",
    "FailureRate",
    "Launcher",
    "LogPrice",
    "MeasuredNames",
    "Mla",
    "Model",
    "Nodes",
    "Offer",
    "Operations",
    "ParameterCount",
    "PrintedMachine",
    "Provenance",
    "Shape",
    "SkyPilotNames",
    "StorageSpeed",
    "StorageTier",
    "Store",
    "Traffic",
    "Vision",
    "parameter_count",
]
