"""What stands in a node's host memory and on its disk whatever a plan decides, and its link."""

from __future__ import annotations

from dataclasses import dataclass

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
