"""What the plan decides: machines, layouts, and everything else that was open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from rlopt.plan import Binding, Decisions, FrontierPoint, LayoutChoice, Plan, Pool
from rlopt.reports import words
from rlopt.reports.layout import bullets, facts, heading, table

CEILINGS = ("floors.max_staleness", "floors.checkpoints.recovery_time", "floors.core_metrics.every")
"""Floors that bound from above: less is stricter."""


def machines(plan: Plan) -> list[RenderableType]:
    """The pools as one table, and under it what each pool does and how its memory is used."""
    rows = [
        (
            pool.name,
            f"{pool.nodes} × {pool.instance_type}",
            f"{pool.gpus} × {pool.gpu}" if pool.gpu else "no GPU",
            " ".join(part for part in (pool.provider, pool.zone or pool.region or "any region") if part),
            words.PRICING.get(pool.pricing, pool.pricing),
            words.usd(pool.usd_per_hour),
        )
        for pool in plan.pools
    ]
    columns = ("pool", "machines", "GPUs", "where", "paid", "per hour")
    details = [(pool.name, text) for pool in plan.pools for text in _details(pool)]
    named = [
        (name if index == 0 or details[index - 1][0] != name else "", text)
        for index, (name, text) in enumerate(details)
    ]
    return [table(columns, rows, right=("per hour",)), Text(), facts(named)]


def _details(pool: Pool) -> list[str]:
    roles = words.listed([words.ROLES.get(role, role) for role in pool.roles])
    lines = [f"{roles}: {words.listed(pool.serves)}" if pool.serves else roles]
    if pool.layout is not None:
        lines.append(layout_in_words(pool.layout, pool.precision))
    if pool.memory is not None:
        memory = pool.memory
        stage, _, model = memory.stage.partition(" ")
        doing = " ".join(filter(None, (words.DOING.get(stage, stage), model)))
        lines.append(
            f"memory per GPU: needs {memory.needed_gib:.1f} of {memory.capacity_gib:.1f} GiB, "
            f"most while {doing} ({_parts(memory.parts)})"
        )
        if memory.host_gib is not None:
            there = memory.host_capacity_gib
            known = "what is there is not known" if there is None else f"{there:,.0f} GiB there"
            lines.append(f"host memory per node: needs {memory.host_gib:,.0f} GiB, {known}")
    if pool.disk_gib is not None:
        rented = f", {pool.disk_gb:,.0f} GB rented for all nodes" if pool.disk_gb else ", on the machine's own disk"
        lines.append(f"disk per node: needs {pool.disk_gib:,.0f} GiB{rented}")
    return lines


def _parts(parts: Mapping[str, float]) -> str:
    ordered = sorted(((gib, name) for name, gib in parts.items() if gib > 0), reverse=True)
    return ", ".join(f"{words.spelled(name)} {gib:.1f}" for gib, name in ordered)


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


def decisions(plan: Plan) -> RenderableType:
    """Placement, group size, precision, checkpoints, logs and whatever else was open."""
    made = plan.decisions
    if made is None:
        return facts([])
    return facts([*_main(made), *_checkpoints(made), *_more(made), *_kept(plan)])


def _kept(plan: Plan) -> list[tuple[str, str]]:
    """Storage bought, and the labels that the bill carries."""
    rows = [] if plan.storage_gib is None else [("storage", f"{plan.storage_gib:,.0f} GiB bought at its peak")]
    if plan.tags:
        rows.append(("tags", ", ".join(f"{key}: {value}" for key, value in plan.tags.items())))
    return rows


def _main(made: Decisions) -> list[tuple[str, str]]:
    alone = made.precision.rollout is None and made.group_size is None
    where = "one pool does all the work" if alone else words.PLACEMENTS.get(made.placement, made.placement)
    rows = [("placement", where)]
    if made.group_size is not None:
        rows.append(("group size K", f"{words.count(made.group_size, 'sample')} per prompt"))
    uses = (
        ("generate", made.precision.rollout),
        ("score", made.precision.score),
        ("train", made.precision.update),
    )
    rows.append(("precision", ", ".join(f"{use} in {name}" for use, name in uses if name is not None)))
    if made.staleness:
        rows.append(("staleness", f"samples up to {words.count(made.staleness, 'update')} old"))
    return rows


def _checkpoints(made: Decisions) -> list[tuple[str, str]]:
    saved = made.checkpoint
    rows = [
        (
            "checkpoints",
            f"every {words.count(saved.interval_steps, 'step')}, "
            f"back at work {words.minutes(saved.recovery_minutes)} after a failure",
        )
    ]
    for tier in saved.tiers:
        roles = f" ({words.listed(tier.roles)})" if tier.roles else ""
        rows.append(
            (
                "",
                f"{words.count(tier.copies, 'copy', 'copies')}{roles} in {tier.tier}: "
                f"{tier.gib:,.0f} GiB at most, {words.usd(tier.usd)}",
            )
        )
    return rows


def _more(made: Decisions) -> list[tuple[str, str]]:
    rate = made.logging.text_log_rate
    rows = [("logs", f"full text of {words.percent(rate)} of the samples" if rate else "no sample texts")]
    extra: tuple[tuple[str, Mapping[str, Any] | None], ...] = (
        ("data", made.data),
        ("environment", made.environment),
    )
    for name, chosen in extra:
        if chosen:
            rows.append(
                (
                    name,
                    ", ".join(
                        f"{words.spelled(key)} {words.number(value)}"
                        for key, value in chosen.items()
                        if value is not None
                    ),
                )
            )
    return rows


def binding(plan: Plan) -> list[RenderableType]:
    """The limits and floors that hold the plan back: one unit tighter and it is dearer or impossible."""
    if not plan.binding and plan.status != "optimal":
        return []
    if not plan.binding:
        nothing = "no limit or floor; tightening any of them by one unit changes nothing"
        return [*heading("What holds it back"), bullets([nothing])]
    return [*heading("What holds it back"), bullets(_bound(bound) for bound in plan.binding)]


def _bound(bound: Binding) -> str:
    value, limit = words.amount(bound.value, bound.unit), words.amount(bound.limit, bound.unit)
    if bound.constraint in CEILINGS or not bound.constraint.startswith("floors."):
        of_number = bound.unit if bound.unit in words.WRITTEN_OUT else ""
        text = f"{bound.constraint}: {words.amount(bound.value, of_number)} of {limit} allowed"
    elif value == limit:
        text = f"{bound.constraint}: {value}, exactly the floor"
    else:
        text = f"{bound.constraint}: {value}, the floor is {limit}"
    if bound.usd_per_unit is None:
        return text
    return f"{text}; each {bound.unit} that it is loosened by saves {words.usd(bound.usd_per_unit)}"


def _summary(point: FrontierPoint, plan: Plan) -> str:
    text = point.summary
    for name, words_of in words.PRICING.items():
        text = text.replace(f" {name} ", f" {words_of} ")
    mine = (plan.time and plan.time.confident_hours, plan.cost and plan.cost.total_usd)
    return f"{text} (this plan)" if (point.confident_hours, point.total_usd) == mine else text


def alternatives(plan: Plan) -> list[RenderableType]:
    """Up to six plans that are faster and dearer, or slower and cheaper."""
    if not plan.frontier:
        return []
    rows = [
        (words.hours(point.confident_hours), words.usd(point.total_usd), _summary(point, plan))
        for point in plan.frontier[:6]
    ]
    return [
        *heading("Other speeds, other prices"),
        table(("confident time", "total", "plan"), rows, right=("confident time", "total")),
    ]
