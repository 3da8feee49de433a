"""Frozen models that score on a pool of their own: whole replicas side by side, weights in the scoring precision.

Seconds are those of `forward_seconds` and memory that of `forward_parts` on these layouts: no pipeline, nothing
sharded over replicas, nothing kept for a backward pass.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Ints, Layout


def scoring_layout(tp: Ints, replicas: Ints, micro_batch: Ints | int = 1, ep: Ints | int = 1) -> Layout:
    """Layouts of ``replicas`` of ``tp`` GPUs each, shape of the broadcast arguments.

    ``ep`` spreads whole experts over so many of all GPUs; where it is 1, tensor parallelism splits them.
    """
    ways, count, rows, spread = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(value, dtype=np.int64)) for value in (tp, replicas, micro_batch, ep))
    )
    one, zero = np.ones_like(ways), np.zeros_like(ways)
    return Layout(
        tp=ways,
        pp=one,
        vp=one,
        dp=count,
        cp=one,
        ep=spread,
        etp=np.where(spread > 1, 1, ways),
        sharding=zero,
        micro_batch=rows,
        recompute=zero,
        offload=zero,
    )
