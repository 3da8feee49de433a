"""Disk that a node needs beside its GPUs: what stands on it while the job runs.

GiB = image + logs + weights of every model the pool loads + (where it trains) staged checkpoint and data, by node

What exceeds a machine's own disk is rented.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.roles import POLICY
from rlopt.market.volumes import version_bytes
from rlopt.pools.checkpoints import checkpoint_sizes
from rlopt.pools.context import Context
from rlopt.problem import Floats, Ints
from rlopt.units import bytes_to_gib
from rlopt.words import PoolRole

WEIGHT_BYTES = 2.0
"""A parameter of published weights in bf16."""


def weights_bytes(context: Context, kind: PoolRole) -> float:
    """Weights that a node of the pool loads, each model once; a rollout pool loads the policy and what screens."""
    sampling = {*POLICY, *(stage.role for stage in context.workload.screening)}
    roles = [role for role in context.workload.roles if kind != PoolRole.SAMPLE or role.name in sampling]
    models = {id(role.model): role.model.params for role in roles}
    return WEIGHT_BYTES * sum(models.values())


def disk_gib(context: Context, kind: PoolRole, nodes: Ints) -> Floats:
    """GiB per node of a pool that trains (and perhaps samples), samples or scores; shape of ``nodes``."""
    constants = context.catalog.nodes
    held = constants.disk_image_gib + constants.disk_logs_gib + bytes_to_gib(weights_bytes(context, kind))
    if kind != PoolRole.TRAIN:
        return np.full(len(nodes), held)
    saved = checkpoint_sizes(context.request, context.workload, context.calibration).resumable_bytes
    shared = bytes_to_gib(constants.staged_checkpoints * saved + version_bytes(context.request))
    return np.asarray(held + shared / nodes)
