"""One way to keep a run alive; `recovery` lists those that a request leaves open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecoveryOption:
    """One way to keep a run alive, decided beside the checkpoint's interval and tier."""

    spare_nodes: int = 0
    """Nodes of the training pool's offer that stand ready to take a failed one's place."""
    rollouts_every: int = 0
    """Tokens between two copies of an unfinished response on shared storage; 0 where none are made."""
    compressed: bool = False
    """Whether checkpoints are compressed."""
