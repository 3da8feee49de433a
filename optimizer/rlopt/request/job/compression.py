"""Compression of what a job stores, kind by kind."""

from __future__ import annotations

from typing import Annotated

from rlopt.request.values.kinds import NotNegative, Number
from rlopt.strict import Strict


class Squeeze(Strict):
    """What compressing one kind of bytes brings and takes."""

    ratio: Annotated[float, Number(0.0, 1.0, low_open=True, example="0.3")]
    """Compressed size / size."""
    vcpu_seconds_per_gib: NotNegative
    """vCPU seconds to compress one GiB, and again to read it back."""


class Compression(Strict):
    """Kinds of bytes that may be compressed: each is where that is cheaper."""

    trajectories: Squeeze | None = None
    """Stored trajectories (vla)."""
    intermediates: Squeeze | None = None
    """Stored log-probabilities."""
    logs: Squeeze | None = None
    """Texts that are files in a store (``text_log.kept_in: store``): a logging service bills them as they are."""
    checkpoints: Squeeze | None = None
    """Every copy of weights and optimizer state, by the training machines: counted in saves and recovery."""
