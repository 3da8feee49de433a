"""Operational constants: start-up, restart, idle, head node."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operations:
    """Minutes, sizes and rates of running a job; ``assumed`` names those without a published source."""

    startup_minutes: float
    shutdown_minutes: float
    idle_minutes: float
    restart_minutes: float
    control_vcpus: float
    control_memory_gib: float
    checkpoint_read_gb_s_per_node: float
    checkpoint_snapshot_gb_s_per_gpu: float
    encoded_image_bytes_per_pixel: float
    metric_value_bytes: float
    metric_line_bytes: float
    histogram_series: float
    assumed: tuple[str, ...]

    @property
    def overhead_hours(self) -> float:
        """Hours of a run outside its steps."""
        return (self.startup_minutes + self.shutdown_minutes) / 60.0
