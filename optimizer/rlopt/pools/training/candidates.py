"""Training candidates: every layout of every machine kind and node count, before anything says which of them fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

import numpy as np

from rlopt.estimates import Layout
from rlopt.pools.context import Context
from rlopt.pools.layouts import LayoutSpace, layouts, node_counts
from rlopt.problem.fixed import stated_counts
from rlopt.table import Ints, Table
from rlopt.words import StageKind


@dataclass(frozen=True, slots=True)
class Candidates(Table):
    """Shape (rows,) each: machine kind, its nodes, and the row of the layout among `known_layouts`."""

    topology: Ints
    nodes: Ints
    layout: Ints


def node_options(context: Context) -> list[tuple[int, ...]]:
    """Node counts per topology: a training pool spans nodes only where a cluster network is known."""
    market, found = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        most = most if topology.cluster else min(most, 1)
        found.append(stated_counts(context.only.training_gpus, topology.gpus_per_node, most, node_counts(most)))
    return found


def known_layouts(context: Context) -> Layout | None:
    """Every layout of the sizes in question, whether it is meant and fits or not; None without any."""
    return _groups(context)[0] if any(node_options(context)) else None


def candidates(context: Context) -> tuple[Layout, Candidates] | None:
    """Distinct layouts, and the candidates that take one of them as far as a layout is stated; None without any."""
    options = node_options(context)
    if not any(options):
        return None
    distinct, where = _groups(context)
    found = []
    for number, (kind, counts) in enumerate(zip(context.market.topologies, options, strict=True)):
        for nodes in counts:
            rows = np.arange(*where[(kind.gpus_per_node, nodes)])
            found.append(Candidates(np.full(len(rows), number), np.full(len(rows), nodes), rows))
    every = Candidates.join(found)
    if context.only.layouts is not None:
        gpus = np.asarray(every.nodes * context.hardware.gpus_per_node[every.topology], dtype=np.int64)
        every = every.take(context.only.layouts.meant(distinct.take(every.layout), gpus))
    return (distinct, every) if len(every) else None


def _groups(context: Context) -> tuple[Layout, dict[tuple[int, int], tuple[int, int]]]:
    """All layouts of every (GPUs per node, nodes), one after another, and where each group starts and ends."""
    space, parts, where, at = _space(context), [], {}, 0
    for topology, counts in zip(context.market.topologies, node_options(context), strict=True):
        for nodes in counts:
            key = (topology.gpus_per_node, nodes)
            if key not in where:
                part = layouts(key[0] * nodes, key[0], space)
                where[key] = at, at + len(part)
                at += len(part)
                parts.append(part)
    return Layout.join(parts), where


def _space(context: Context) -> LayoutSpace:
    """Bounds on the layouts: the shapes of all models that share them, and the sequences of the largest step.

    Degrees of tensor and expert parallelism divide what every model has. Where the policy has no experts, those of a
    frozen model are split over tensor parallelism (`role_layout`).
    """
    stages = context.workload.of_kind(StageKind.TRAIN)
    longest = max(context.tokens(stage).longest for stage in stages)
    sequences = max(context.sequences(stage, size) / stage.updates for stage in stages for size in context.sizes)
    policy, models = context.workload.role("policy").model, [role.model for role in context.workload.roles]
    experts = gcd(*(model.experts for model in models if model.experts)) if policy.experts else 0
    bounds = LayoutSpace.of(policy, longest, sequences)
    return replace(bounds, heads=gcd(*(model.heads for model in models)), experts=experts)
