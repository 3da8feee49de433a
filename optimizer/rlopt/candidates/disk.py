"""Disk that a node needs beside its GPUs: what stands on it while the job runs."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rlopt.candidates.context import Context
from rlopt.problem import Floats, Ints


def disk_gib(context: Context, kind: Literal["train", "rollout", "score"], nodes: Ints) -> Floats:
    """GiB per node of a pool that trains (and perhaps samples), samples or scores; shape of ``nodes``."""
    del context, kind
    return np.zeros(len(nodes))
