"""What stands in a node's host memory and on its disk whatever a plan decides, and its link: one file, read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir

LOADING = "loading host share"
"""The one that counts only where samples are decoded on the machines that train."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Sizes by node, process, token and checkpoint, and a link; ``assumed`` names those without a published source."""

    host_system_gib: float
    host_process_gib: float
    sample_bytes_per_token: float
    sample_copies: float
    disk_image_gib: float
    disk_logs_gib: float
    staged_checkpoints: float
    machine_network_gbps: float
    loading_host_share: float
    assumed: tuple[str, ...]

    def assumed_by(self, *, prepares: bool) -> tuple[str, ...]:
        """Those that a job rests on: without the share for preparing samples where its machines prepare none."""
        return tuple(text for text in self.assumed if prepares or not text.startswith(LOADING))


def _in_words(key: str, value: float) -> str:
    """``host system 4 GiB`` from ``host_system_gib``."""
    units = {"_gib": " GiB", "_gbps": " Gb/s"}
    end = next((end for end in units if key.endswith(end)), "")
    return f"{key.removesuffix(end).replace('_', ' ')} {value:g}{units.get(end, '')}"


@lru_cache(maxsize=8)
def load_nodes(folder: Path | None = None) -> Nodes:
    """Read ``nodes.yaml`` of the shipped catalogs (or of ``folder``)."""
    from rlopt.facts.files.tables import table

    found = table((folder or catalogs_dir()) / "nodes.yaml")
    entries = {key: entry for key, entry in found.items() if isinstance(entry, dict)}
    assumed = tuple(_in_words(key, entry["value"]) for key, entry in entries.items() if entry["source"] == "assumption")
    return Nodes(**{key: float(entry["value"]) for key, entry in entries.items()}, assumed=assumed)
