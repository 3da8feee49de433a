"""What a stage is limited by: that which, twice as fast, would shorten it most.

Every resource of the hardware is doubled in turn and the stage estimated again; what none of them shortens is launches
and latencies. Beside them stand what a stage waits for: the environment, and responses longer than the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rlopt.estimates import Hardware

COMPUTE, BANDWIDTH, COMMUNICATION = "compute", "memory bandwidth", "communication"
HOST, LATENCY = "copies to host memory", "launches and latencies"
ENVIRONMENT, TAIL = "environment", "longest responses"
Estimate = Callable[[Hardware], Sequence[float]]
"""Seconds of one or several stages on one machine kind."""


def quicker(hardware: Hardware) -> dict[str, Hardware]:
    """The same machine with each resource twice as fast in turn."""
    doubled = {name: 2.0 * values for name, values in hardware.tflops.items()}
    return {
        COMPUTE: replace(hardware, tflops=doubled),
        BANDWIDTH: replace(hardware, hbm_gb_s=2.0 * hardware.hbm_gb_s),
        COMMUNICATION: replace(hardware, link_gb_s=2.0 * hardware.link_gb_s, node_gb_s=2.0 * hardware.node_gb_s),
        HOST: replace(hardware, pcie_gb_s=2.0 * hardware.pcie_gb_s),
    }


def limits(estimate: Estimate, hardware: Hardware, waits: Mapping[str, float] | None = None) -> list[str]:
    """What limits each stage of ``estimate``. ``waits``: seconds of the first stage by what it waits for."""
    plain = estimate(hardware)
    saved = {name: estimate(better) for name, better in quicker(hardware).items()}
    found = []
    for number, seconds in enumerate(plain):
        gained = {name: seconds - one[number] for name, one in saved.items()}
        if number == 0:
            gained |= {name: waited / 2.0 for name, waited in (waits or {}).items()}
        gained[LATENCY] = seconds / 2.0 - sum(gained.values())
        found.append(max(gained, key=lambda name: gained[name]))
    return found
