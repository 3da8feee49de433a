"""What measurements call models and machines, and facts about those that no plan may use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rlopt.facts.device import Device
from rlopt.facts.model import Model


@dataclass(frozen=True, slots=True)
class PrintedMachine:
    """A machine as measurements print it; ``node_gbps`` is the network of one machine, Gb/s."""

    printed: re.Pattern[str]
    device: str
    gpus_per_node: int
    intra: str
    node_gbps: float


@dataclass(frozen=True, slots=True)
class MeasuredNames:
    """Printed names to facts.

    Parameters
    ----------
    models, devices
        Those that stand beside the catalogs' own, with what a prediction needs: hybrids whose memory is not fully
        known, cards that nobody rents.
    names
        Printed spelling of a model to its name.
    machines
        The first whose pattern is the whole spelling counts.
    """

    models: Mapping[str, Model]
    devices: Mapping[str, Device]
    names: Mapping[str, str]
    machines: tuple[PrintedMachine, ...]
