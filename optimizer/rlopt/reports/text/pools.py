"""Which machines a plan rents, what each pool of them does, and how it fills its memory."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from rlopt.answers.plan import LayoutChoice, Memory, Plan, Pool
from rlopt.language import Name, tr
from rlopt.reports import words
from rlopt.reports.layout import facts, table
from rlopt.units import GIB, GIGA

LEAST_GIB = 0.05
"""What would round to nothing is written as less than a tenth."""
ENOUGH = 0.99
"""Share of the disk that is needed from which on what is rented holds it all."""


def machines(plan: Plan) -> list[RenderableType]:
    """The pools as one table, and under it what each pool does and how its memory is used."""
    rows = [
        (
            Name(pool.name),
            f"{pool.nodes} × {pool.instance_type}",
            f"{pool.gpus} × {pool.gpu}" if pool.gpu else "no GPU",
            Name(" ".join(part for part in (pool.provider, pool.zone or pool.region or tr("any region")) if part)),
            words.PRICING.get(pool.pricing, pool.pricing),
            words.usd(pool.usd_per_hour),
        )
        for pool in plan.pools
    ]
    columns = ("pool", "machines", "GPUs", "where", "paid", "per hour")
    told = [(Name(pool.name), text) for pool in plan.pools for text in details(pool)]
    named = [
        (name if index == 0 or told[index - 1][0] != name else "", text) for index, (name, text) in enumerate(told)
    ]
    return [table(columns, rows, right=("per hour",)), Text(), facts(named)]


def details(pool: Pool) -> list[str]:
    """What a pool does, how it is laid out, how full its memory and disks are."""
    roles = words.listed([words.ROLES.get(role, role) for role in pool.roles])
    served = words.models(pool.serves)
    lines = [f"{roles}: {served}" if served else roles]
    if pool.share is not None:
        lines.append(f"takes {words.percent(pool.share)} of the samples: one of the two offers of a mixed pool")
    if pool.term_hours:
        lines.append(f"reserved: billed in whole terms of {words.hours(pool.term_hours)}, used or not")
    if pool.layout is not None:
        lines.append(layout_in_words(pool.layout, pool.precision))
    if pool.memory is not None:
        lines += _memory(pool.memory, pool.serves)
    if pool.disk_gib is not None:
        rented = f", {pool.disk_gb:,.0f} GB rented for all nodes" if pool.disk_gb else ", on the machine's own disk"
        if 0.0 < pool.disk_gb < ENOUGH * pool.disk_gib * pool.nodes * GIB / GIGA:
            rented += ", the rest on the machines' own disks"
        lines.append(f"disk per node: needs {pool.disk_gib:,.0f} GiB{rented}")
    return lines


def _memory(memory: Memory, serves: list[str]) -> list[str]:
    stage, _, model = memory.stage.partition(" ")
    doing = words.doing(stage, model, serves)
    lines = [
        f"memory per GPU: needs {memory.needed_gib:.1f} of {memory.capacity_gib:.1f} GiB, "
        f"most while {doing} ({_parts(memory)})"
    ]
    if memory.host_gib is not None:
        there = memory.host_capacity_gib
        known = "what is there is not known" if there is None else f"{there:,.0f} GiB there"
        lines.append(f"host memory per node: needs {memory.host_gib:,.0f} GiB, {known}")
    return lines


def _parts(memory: Memory) -> str:
    """Parts from the largest down; weights that never change are a part of the weights, told beside them."""
    ordered = sorted(((gib, name) for name, gib in memory.parts.items() if gib > 0), reverse=True)
    texts = []
    for gib, name in ordered:
        text = f"{words.spelled(name)} {_gib(gib)}"
        if name == "weights" and LEAST_GIB <= memory.frozen_gib < gib - LEAST_GIB:
            text += f" of which {_gib(memory.frozen_gib)} never change"
        texts.append(text)
    return ", ".join(texts)


def _gib(gib: float) -> str:
    return f"{gib:.1f}" if gib >= LEAST_GIB else "<0.1"


def layout_in_words(layout: LayoutChoice, precision: str | None) -> str:
    """How one copy of a model is cut and how many copies there are."""
    cuts = [
        f"{name} {size}"
        for name, size in (
            ("tensor parallel", layout.tp),
            ("pipeline parallel", layout.pp),
            ("interleaved pipeline stages", layout.vp),
            ("context parallel", layout.cp),
            ("expert parallel", layout.ep),
            ("expert tensor parallel", layout.etp),
            ("generation tensor parallel", layout.rollout_tp),
        )
        if size is not None and size > 1
    ]
    parts = [" × ".join(cuts) if cuts else "whole model on one GPU"]
    if layout.dp is not None:
        parts.append(words.count(layout.dp, "replica"))
    if layout.sharding is not None:
        parts.append(words.SHARDING.get(layout.sharding, layout.sharding))
    if layout.micro_batch is not None:
        parts.append(f"micro-batch {layout.micro_batch}")
    if layout.recompute is not None:
        parts.append(words.RECOMPUTE.get(layout.recompute, layout.recompute))
    if layout.offload is not None and layout.offload in words.OFFLOAD:
        parts.append(words.OFFLOAD[layout.offload])
    if precision is not None:
        parts.append(precision)
    return ", ".join(parts)
