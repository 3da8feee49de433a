"""How often machines fail or are taken back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureRate:
    """One rate of interruption.

    Parameters
    ----------
    provider, device, pricing
        What the rate holds for; ``any`` matches everything.
    kind
        ``failure`` (hardware or software stops the job) or ``reclaim`` (a spot machine is taken back).
    per_gpu_hour, per_node_hour
        Events per hour of one GPU or of one node; exactly one of the two is set.
    low, high
        Band of the same rate.
    note
        The arithmetic that turns the published figure into the rate.
    """

    id: str
    provider: str
    device: str
    pricing: str
    kind: str
    per_gpu_hour: float | None
    per_node_hour: float | None
    low: float
    high: float
    source: str
    note: str

    def per_hour(self, nodes: float, gpus_per_node: float) -> float:
        """Events per hour of a cluster of `nodes` machines."""
        if self.per_node_hour is not None:
            return self.per_node_hour * nodes
        return (self.per_gpu_hour or 0.0) * nodes * gpus_per_node
