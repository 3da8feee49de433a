"""Operational constants: start-up, restart, idle, head node. One file of the catalogs, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir

_UNITS = (
    ("_minutes", "min"),
    ("_vcpus", "vCPUs"),
    ("_bytes_per_pixel", "B a pixel"),
    ("_bytes", "B"),
    ("_gib", "GiB"),
    ("_gb_s_per_node", "GB/s per node"),
    ("_gb_s_per_gpu", "GB/s per GPU"),
)


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


def _in_words(key: str, value: float) -> str:
    """``startup 15 min`` from ``startup_minutes``."""
    for ending, unit in _UNITS:
        if key.endswith(ending):
            return f"{key.removesuffix(ending).replace('_', ' ')} {value:g} {unit}"
    return f"{key.replace('_', ' ')} {value:g}"


@lru_cache(maxsize=8)
def load_operations(folder: Path | None = None) -> Operations:
    """Read ``operations.yaml`` of the shipped catalogs (or of ``folder``)."""
    from rlopt.facts.files.tables import table

    found = table((folder or catalogs_dir()) / "operations.yaml")
    entries = {key: entry for key, entry in found.items() if isinstance(entry, dict)}
    assumed = tuple(_in_words(key, entry["value"]) for key, entry in entries.items() if entry["source"] == "assumption")
    return Operations(**{key: float(entry["value"]) for key, entry in entries.items()}, assumed=assumed)
