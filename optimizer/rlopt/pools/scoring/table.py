"""Scoring candidates: teachers and reward models on a pool of their own, as replicas that share the samples.

A replica is tensor parallel, or spreads the experts of a mixture whole over its GPUs. It stays on one node, so the
pool may span nodes without a cluster network. All the frozen models of the pool are held at once, and score one after
the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates import Hardware, Layout, ModelShape
from rlopt.estimates.loop.run_average import averaged
from rlopt.estimates.training.memory import forward_parts
from rlopt.estimates.training.scoring import scoring_layout
from rlopt.pools.context import Context, context_of, margin
from rlopt.pools.layouts import POWERS, node_counts
from rlopt.pools.run_points import at_points
from rlopt.pools.training.memory import PARTS, Parts, as_dict
from rlopt.pools.training.seconds import forward_times
from rlopt.problem import Floats, Ints
from rlopt.problem.fixed import stated_counts
from rlopt.table import Table
from rlopt.words import StageKind
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant

MICRO_BATCHES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class ScoringTable(Table):
    """Scoring pools that fit, shape (rows,). ``seconds`` by group size: all their passes of one step."""

    topology: Ints
    nodes: Ints
    layout: Layout
    precision: Ints
    """Index into the request's scoring precisions."""
    seconds: Mapping[int, Floats]
    tried: int
    unknown: int
    points: Mapping[int, Floats]
    """Seconds at each point of the run, shape (rows, points); one point where no length changes."""


def scoring_tables(context: Context, variants: Sequence[Variant]) -> dict[Hashable, tuple[Context, ScoringTable]]:
    """Tables of every set of passes that has a pool of its own, by `scoring_key`; none where no offer has one."""
    found: dict[Hashable, tuple[Context, ScoringTable]] = {}
    for variant in variants:
        if variant.own and scoring_key(variant) not in found:
            here = replace(context_of(context, _scorers(variant)), kernels=variant.kernels)
            table = scoring_table(here)
            if table is not None:
                found[scoring_key(variant)] = (here, table)
    return found


def scoring_key(variant: Variant) -> Hashable:
    """Equal for variants whose pools that only score are of one table."""
    return _scorers(variant).structure_key, variant.kernels


def _scorers(variant: Variant) -> Workload:
    """The roles that score on a pool of their own and their passes, alone."""
    workload = variant.workload
    return replace(
        workload,
        roles=tuple(role for role in workload.roles if role.name in variant.own),
        stages=variant.scoring_stages,
        evaluation=None,
    )


def replicas(context: Context, gpus_per_node: int) -> list[tuple[int, int]]:
    """(tp, ep) of a replica of max(tp, ep) GPUs: degrees that divide the heads and experts of every model."""
    models = [role.model for role in context.workload.roles]
    sizes = [size for size in POWERS if gpus_per_node % size == 0]
    found = [(tp, 1) for tp in sizes if all(model.heads % tp == 0 for model in models)]
    if all(model.experts for model in models):
        found += [(1, ep) for ep in sizes if ep > 1 and all(model.experts % ep == 0 for model in models)]
    return found


def scoring_parts(context: Context, layout: Layout, precision: str) -> dict[str, Parts]:
    """Memory by stage and part, GiB per GPU: the passes of each model, beside the weights of the others."""
    found, held = {}, context.held(precision)
    for stage in context.workload.of_kind(StageKind.SCORE):
        shape = context.shapes[stage.role]
        at = layout_of(shape, layout)
        found[stage.role] = as_dict(forward_parts(context.worker(stage.role, at, held), context.tokens(stage)))
    total = np.sum([parts["weights"] for parts in found.values()], axis=0)
    return {f"forward {role}": {**parts, "weights": total} for role, parts in found.items()}


def peak_gib(parts: Mapping[str, Parts]) -> Floats:
    """GiB per GPU at the highest stage."""
    return np.asarray(np.max([np.sum([stage[name] for name in PARTS], axis=0) for stage in parts.values()], axis=0))


def scoring_table(context: Context) -> ScoringTable | None:
    """Every scoring pool of the context's workload (frozen models and their passes) that fits; None without any."""
    market, rows = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        ways = [(*way, mb) for way in replicas(context, topology.gpus_per_node) for mb in MICRO_BATCHES]
        sizes = stated_counts(context.only.scoring_gpus, topology.gpus_per_node, most, node_counts(most))
        rows += [(number, nodes, *way) for nodes in sizes for way in ways]
    if not rows:
        return None
    table = np.array(rows, dtype=np.int64)
    parts: list[tuple[np.ndarray, int]] = []
    points: dict[int, list[Floats]] = {size: [] for size in context.sizes}
    unknown = 0
    hardware = context.hardware.take(table[:, 0])
    gpus = (table[:, 1] * hardware.gpus_per_node).astype(np.int64)
    layout = scoring_layout(table[:, 2], gpus // table[:, 2], table[:, 4], table[:, 3])
    capacity = hardware.memory_gib * (1.0 - margin(context))
    for p, precision in enumerate(context.request.choices.precision.score):
        known = ~np.isnan(hardware.peak(precision))
        unknown += int((~known).sum())
        meant = known if context.only.scorers is None else known & context.only.scorers.meant(layout, gpus)
        fits = np.flatnonzero(meant & (peak_gib(scoring_parts(context, layout, precision)) <= capacity))
        here, mine = hardware.take(fits), layout.take(fits)
        parts.append((fits, p))
        for size, found in points.items():
            run = [scoring_seconds(one, here, mine, size, precision) for one in at_points(context)]
            found.append(np.stack([np.sum([t for _, t in passes], axis=0) for passes in run], axis=1))
    row = np.concatenate([fits for fits, _ in parts])
    every = {size: np.concatenate(found) for size, found in points.items()}
    return ScoringTable(
        table[row, 0],
        table[row, 1],
        layout.take(row),
        np.concatenate([np.full(len(fits), p) for fits, p in parts]),
        {size: averaged(values) for size, values in every.items()},
        len(table) * len(parts),
        unknown,
        every,
    )


def scoring_seconds(
    context: Context, hardware: Hardware, layout: Layout, size: int, precision: str
) -> list[tuple[str, Floats]]:
    """(role, seconds) of every pass of one step."""
    return [
        (
            stage.role,
            forward_times(
                context,
                hardware,
                layout_of(context.shapes[stage.role], layout),
                stage,
                context.sequences(stage, size),
                precision,
            ),
        )
        for stage in context.workload.of_kind(StageKind.SCORE)
    ]


def layout_of(shape: ModelShape, layout: Layout) -> Layout:
    """The layouts as a model takes them: one without experts has none to spread or split."""
    one = np.ones_like(layout.tp)
    return layout if shape.moe else replace(layout, ep=one, etp=one)
