"""Compressed checkpoints: what part of their size is left, and how long the training machines take over it.

hours = GiB · vCPU seconds per GiB / (vCPUs of a machine · machines) / 3600, to compress and again to read back

Compressing goes on beside the steps, as the upload does, and delays it; reading back is part of a recovery. The
machines' own processors do it, so it costs what its time costs. Where the vCPUs of a machine are not known nothing is
compressed there.
"""

from __future__ import annotations

import numpy as np

from rlopt.problem import Floats, Ints, Problem
from rlopt.units import GIB, GIGA, SECONDS_PER_HOUR


def offered(problem: Problem) -> bool:
    """Whether some way to keep a run alive compresses checkpoints."""
    return any(recovery.compressed for recovery in problem.recovery_options)


def size_share(problem: Problem, recovery: Ints) -> Floats | float:
    """Stored size / size by column; 1 where nothing may be compressed."""
    compression = problem.request.job.compression.checkpoints
    if compression is None or not offered(problem):
        return 1.0
    return np.asarray(problem.recovery(lambda one: compression.ratio if one.compressed else 1.0)[recovery])


def hours_per_gb(problem: Problem, offer: Ints, nodes: Ints, recovery: Ints) -> Floats | float:
    """Hours to compress a GB, or to read it back; NaN where a column compresses on machines of unknown vCPUs."""
    compression = problem.request.job.compression.checkpoints
    if compression is None or not offered(problem):
        return 0.0
    known = [one.shape.vcpus for one in problem.market.offers]
    vcpus = np.array([np.nan if count is None else count for count in known], dtype=np.float64)[offer] * nodes
    hours = GIGA / GIB * compression.vcpu_seconds_per_gib / vcpus / SECONDS_PER_HOUR
    chosen = problem.recovery(lambda one: float(one.compressed))[recovery] > 0.0
    return np.where(chosen, hours, 0.0)


def possible(problem: Problem, offer: Ints, recovery: Ints) -> np.ndarray:
    """Columns that do not compress on machines of unknown vCPUs, shape (columns,)."""
    one = np.ones(len(offer), dtype=np.int64)
    return np.broadcast_to(np.isfinite(hours_per_gb(problem, offer, one, recovery)), (len(offer),))
