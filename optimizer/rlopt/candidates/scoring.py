"""Scoring candidates: teachers and reward models on a pool of their own, as replicas that share the samples.

A replica is tensor parallel and stays on one node, so the pool may span nodes without a cluster network. All the
frozen models of the pool are held at once, and score one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rlopt.candidates.context import Context, margin
from rlopt.candidates.layouts import POWERS, node_counts
from rlopt.candidates.training import forward_times
from rlopt.candidates.training_memory import PARTS
from rlopt.estimates import Hardware, Layout, forward_parts
from rlopt.problem import Floats, Ints

MICRO_BATCHES = (1, 2, 4, 8, 16, 32)
DDP = 0


@dataclass(frozen=True, slots=True)
class ScoringTable:
    """Scoring pools that fit, shape (rows,). ``seconds`` by group size: all their passes of one step."""

    topology: Ints
    nodes: Ints
    layout: Layout
    precision: Ints
    """Index into the request's scoring precisions."""
    seconds: Mapping[int, Floats]
    tried: int
    unknown: int

    def __len__(self) -> int:
        return int(self.topology.shape[0])


def replicas(tp: Ints, gpus: Ints, micro_batch: Ints) -> Layout:
    """Layouts of independent replicas, shape (rows,)."""
    one, zero = np.ones_like(tp), np.zeros_like(tp)
    return Layout(
        tp=tp,
        pp=one,
        vp=one,
        dp=gpus // tp,
        cp=one,
        ep=one,
        etp=one,
        sharding=np.full_like(tp, DDP),
        micro_batch=micro_batch,
        recompute=zero,
        offload=zero,
    )


def scoring_parts(context: Context, layout: Layout, precision: str) -> dict[str, dict[str, Floats]]:
    """Memory by stage and part, GiB per GPU: the passes of each model, beside the weights of the others."""
    found, weights = {}, {}
    for stage in context.workload.of_kind("forward"):
        parts = forward_parts(
            context.shapes[stage.role],
            None,
            layout,
            context.tokens(stage),
            precision,
            context.calibration,
            stack=context.stack(layout),
        )
        found[stage.role] = {name: np.asarray(getattr(parts, name), dtype=np.float64) for name in PARTS}
        weights[stage.role] = found[stage.role]["weights"]
    total = np.sum(list(weights.values()), axis=0)
    return {f"forward {role}": {**parts, "weights": total} for role, parts in found.items()}


def peak_gib(parts: Mapping[str, Mapping[str, Floats]]) -> Floats:
    """GiB per GPU at the highest stage."""
    return np.asarray(np.max([np.sum(list(stage.values()), axis=0) for stage in parts.values()], axis=0))


def scoring_table(context: Context) -> ScoringTable | None:
    """Every scoring pool of the context's workload (frozen models and their passes) that fits; None without any."""
    market, rows = context.market, []
    heads = [role.model.heads for role in context.workload.roles]
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        degrees = [t for t in POWERS if topology.gpus_per_node % t == 0 and all(h % t == 0 for h in heads)]
        rows += [(number, nodes, tp, mb) for nodes in node_counts(most) for tp in degrees for mb in MICRO_BATCHES]
    if not rows:
        return None
    table = np.array(rows, dtype=np.int64)
    parts: list[tuple[np.ndarray, int]] = []
    seconds: dict[int, list[Floats]] = {size: [] for size in context.sizes}
    unknown = 0
    hardware = context.hardware.take(table[:, 0])
    layout = replicas(table[:, 2], (table[:, 1] * hardware.gpus_per_node).astype(np.int64), table[:, 3])
    capacity = hardware.memory_gib * (1.0 - margin(context))
    for p, precision in enumerate(context.request.choices.precision.score):
        known = ~np.isnan(hardware.peak(precision))
        unknown += int((~known).sum())
        fits = np.flatnonzero(known & (peak_gib(scoring_parts(context, layout, precision)) <= capacity))
        here, mine = hardware.take(fits), layout.take(fits)
        parts.append((fits, p))
        for size, found in seconds.items():
            found.append(np.sum([t for _, t in scoring_seconds(context, here, mine, size, precision)], axis=0))
    row = np.concatenate([fits for fits, _ in parts])
    return ScoringTable(
        table[row, 0],
        table[row, 1],
        layout.take(row),
        np.concatenate([np.full(len(fits), p) for fits, p in parts]),
        {size: np.concatenate(found) for size, found in seconds.items()},
        len(table) * len(parts),
        unknown,
    )


def scoring_seconds(
    context: Context, hardware: Hardware, layout: Layout, size: int, precision: str
) -> list[tuple[str, Floats]]:
    """(role, seconds) of every pass of one step."""
    return [
        (stage.role, forward_times(context, hardware, layout, stage, context.sequences(stage, size), precision))
        for stage in context.workload.of_kind("forward")
    ]
