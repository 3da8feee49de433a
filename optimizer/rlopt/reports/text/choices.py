"""What the plan decides beside its machines, what holds it back, and what else there is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from rich.console import RenderableType

from rlopt.answers.plan import Binding, Decisions, FrontierPoint, LoadDecision, Plan
from rlopt.language import Name
from rlopt.reports import words
from rlopt.reports.layout import bullets, facts, heading, table
from rlopt.units import HOURS_PER_DAY
from rlopt.words import ActionHead, AttentionKernel, EnvironmentKind, LossKernel

CEILINGS = ("floors.max_staleness", "floors.checkpoints.recovery_time", "floors.core_metrics.every")
"""Floors that bound from above: less is stricter."""
SAME: Final = 1e-6
"""Relative difference up to which a bill and the program's total are one number."""
ACTING: Final = (EnvironmentKind.SIMULATOR, EnvironmentKind.ROBOT)
"""Kinds of environment whose samples are trajectories of a policy that acts."""
COPIES: Final[Mapping[str, str]] = {
    EnvironmentKind.TOOLS: "{copies} of the tools",
    EnvironmentKind.SIMULATOR: "{copies} of the simulator",
    EnvironmentKind.ROBOT: "{robots}",
}
DATA: Final[Mapping[tuple[str, Any], str]] = {
    ("cleaned", True): "cleaned before training",
    ("cleaned", False): "not cleaned: used as they are",
    ("log_probs", "stored"): "log-probabilities of frozen models stored and used again",
    ("log_probs", "recompute"): "log-probabilities of frozen models computed anew in each step",
}
KERNELS: Final = {"loss": LossKernel.WHOLE, "attention": AttentionKernel.FUSED}
"""Kernels that are not worth a line."""
LOSSES: Final[Mapping[str, str]] = {
    LossKernel.WHOLE: "the loss holds all logits at once",
    LossKernel.CHUNKED: "the loss never holds all logits at once",
}
ATTENTIONS: Final[Mapping[str, str]] = {
    AttentionKernel.FUSED: "attention is fused",
    AttentionKernel.PLAIN: "attention holds the scores of all pairs",
}
RELEASE: Final[Mapping[str, str]] = {
    "by hand": "by hand: people give the machines back after a run",
    "automatic": "automatic: a script gives the machines back after a run",
}


def decisions(plan: Plan) -> RenderableType:
    """Placement, group size, precision, checkpoints, logs and whatever else was open."""
    made = plan.decisions
    if made is None:
        return facts([])
    return facts([*_main(made), *_checkpoints(made), *_more(made), *_before(plan), *_kept(plan)])


def _before(plan: Plan) -> list[tuple[str, str]]:
    """What is done before the job, on which machines, and how long it takes."""
    rows: list[tuple[str, str]] = []
    for phase in plan.phases:
        of = f" of {phase.model}" if phase.model else ""
        shared = "" if phase.runs == 1 else f", shared by {words.count(phase.runs, 'run')}"
        took = f"{words.hours(phase.expected_hours)} on {phase.machines}, {words.usd(phase.usd)}{shared}"
        rows.append(("before the job" if not rows else "", f"{phase.name}{of}: {took}"))
    return rows


def _kept(plan: Plan) -> list[tuple[str, str]]:
    """Storage bought, and the labels that the bill carries."""
    rows = [] if plan.storage_gib is None else [("storage", f"{plan.storage_gib:,.0f} GiB bought at its peak")]
    if plan.tags:
        rows.append(("tags", Name(", ".join(f"{key}: {value}" for key, value in plan.tags.items()))))
    return rows


def _main(made: Decisions) -> list[tuple[str, str]]:
    alone = made.precision.rollout is None and made.group_size is None
    where = "one pool does all the work" if alone else words.PLACEMENTS.get(made.placement, made.placement)
    rows = [("placement", where)]
    if made.group_size is not None:
        acts = (made.environment or {}).get("kind") in ACTING
        each = words.count(made.group_size, "trajectory", "trajectories") if acts else None
        each = f"{each} per task" if each else f"{words.count(made.group_size, 'sample')} per prompt"
        rows.append(("group size K", each))
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
            f"every {words.count(saved.interval_steps, 'step')}{', compressed' if saved.compressed else ''}, "
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
    return [*rows, *_moves(made)]


def _more(made: Decisions) -> list[tuple[str, str]]:
    rate = made.logging.text_log_rate
    where = ", as files in a store" if rate and made.logging.kept_in == "store" else ""
    rows = [("logs", f"full text of {words.percent(rate)} of the samples{where}" if rate else "no sample texts")]
    if made.data:
        rows.append(("data", "; ".join(_datum(key, value) for key, value in made.data.items() if value is not None)))
    if made.models:
        rows.append(("models", "; ".join(f"{words.model(role)}: {name}" for role, name in made.models.items())))
    if made.kernels and made.kernels != KERNELS:
        rows.append(("kernels", f"{LOSSES[made.kernels['loss']]}; {ATTENTIONS[made.kernels['attention']]}"))
    if made.scoring:
        processes = words.count(made.scoring["processes"], "process", "processes")
        rows.append(("scoring", f"the reward model on machines without GPUs, {processes}"))
    if made.load is not None and (made.load.mounted or made.load.nodes):
        rows.append(("samples", _samples(made.load)))
    if made.environment:
        rows.append(("environment", _environment(made.environment)))
    rows += acting(made)
    if made.recovery:
        rows.append(("lost machines", _recovery(made.recovery)))
    for key, value in (made.operations or {}).items():
        rows.append((words.spelled(key), RELEASE.get(value, words.number(value))))
    return rows


def _recovery(made: Mapping[str, Any]) -> str:
    spares, every = made["spare_nodes"], made["rollouts_every"]
    ready = f"{words.count(spares, 'spare node')} ready" if spares else "no spare node"
    stops = "rollout machines come and go without a stop" if made["elastic"] else "any lost machine stops the run"
    copied = f"unfinished responses copied every {words.count(every, 'token')}" if every else ""
    return "; ".join(filter(None, (ready, stops, copied)))


def _samples(load: LoadDecision) -> str:
    """Where samples are read from, and what prepares them."""
    where = "object storage"
    if load.mounted is not None:
        volumes = f"{words.count(load.units, 'volume')} of " if load.store == "block" else ""
        where = f"{volumes}{load.mounted} ({load.gb:,.0f} GB, {load.mb_s:,.0f} MB/s{' each' if load.units > 1 else ''})"
    if not load.nodes:
        return f"read from {where}"
    return f"read from {where}, prepared by {words.count(load.vcpus, 'virtual CPU')} beside the machines that train"


def _datum(key: str, value: Any) -> str:
    if key == "value_bins":
        return "the value model regresses" if value == 1 else f"the value model tells {words.count(value, 'bin')} apart"
    return DATA.get((key, value)) or f"{words.spelled(key)}: {words.number(value)}"


def _environment(chosen: Mapping[str, Any]) -> str:
    kind, number = str(chosen.get("kind")), chosen.get("instances")
    if kind not in COPIES or number is None:
        return ", ".join(f"{words.spelled(key)}: {words.number(value)}" for key, value in chosen.items() if value)
    return COPIES[kind].format(copies=words.count(number, "copy", "copies"), robots=words.count(number, "robot"))


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
    text = words.machines(point.summary)
    return f"{text} (this plan)" if _is_plan(point, plan) else text


def _is_plan(point: FrontierPoint, plan: Plan) -> bool:
    """Whether a point is the plan itself; its total is the program's, the plan's that of the bill."""
    if plan.time is None or plan.cost is None:
        return False
    return math.isclose(point.total_usd, plan.cost.total_usd, rel_tol=SAME) and math.isclose(
        point.confident_hours, plan.time.confident_hours, rel_tol=SAME
    )


def alternatives(plan: Plan) -> list[RenderableType]:
    """Up to six plans that are faster and dearer, or slower and cheaper."""
    if not plan.frontier:
        return []
    rows = [
        (words.hours(point.confident_hours), words.usd(point.total_usd), _summary(point, plan))
        for point in plan.frontier[:6]
    ]
    several = any(" + " in point.summary for point in plan.frontier[:6])
    time = "confident time" if plan.worst is None else f"confident time, steps {plan.worst.times:g} times as long"
    columns = (time, "total", "plan (the training pool first)" if several else "plan")
    return [*heading("Other speeds, other prices"), table(columns, rows, right=columns[:2])]


def machines(plan: Plan) -> str:
    """The pools with GPUs in short: ``8 H100-SXM on demand at aws + 1 L40S spot at gcp``."""
    return " + ".join(f"{p.gpus} {p.gpu} {words.PRICING[p.pricing]} at {p.provider}" for p in plan.pools if p.gpu)


def near_optimal(plan: Plan) -> list[RenderableType]:
    """Proven plans that cost little more and are really other plans."""
    if not plan.alternatives or plan.cost is None:
        return []
    rows = []
    for other in plan.alternatives:
        if other.cost is None or other.time is None or other.decisions is None:
            continue
        more = other.cost.total_usd - plan.cost.total_usd
        row = (words.usd(other.cost.total_usd), _signed(more), words.hours(other.time.confident_hours))
        rows.append((*row, f"{other.decisions.placement}: {machines(other)}"))
    columns = ("total", "more", "confident time", "plan")
    return [*heading("Other machines, little more"), table(columns, rows, right=columns[:3])]


def _signed(usd: float) -> str:
    return f"+{words.usd(usd)}" if usd >= 0 else words.usd(usd)


HEADS: Final[Mapping[str, str]] = {
    ActionHead.FLOW: "a flow head, several denoising steps a chunk of actions",
    ActionHead.ONE_STEP: "a single denoising step a chunk of actions",
    ActionHead.TOKENS: "action tokens, one after another",
}


def acting(made: Decisions) -> list[tuple[str, str]]:
    """Rows of the head that was chosen and of screening; none where neither is in play."""
    rows = [] if made.action_head is None else [("action head", HEADS.get(made.action_head, made.action_head))]
    found = made.screening
    if found is not None:
        where = "in the rollout pool" if found["pool"] == "rollout" else "in the one pool"
        rows.append(
            ("screening", f"the value model scores all samples {where}, {words.seconds(found['seconds'])} of a step")
        )
        rows.append(
            (
                "",
                f"spares {found['stored_gb']:,.3g} GB of storage, {found['traffic_gb']:,.3g} GB of traffic and "
                f"{words.seconds(found['update_seconds'])} of updates a step",
            )
        )
    return rows


def _moves(made: Decisions) -> list[tuple[str, str]]:
    """What is stored compressed, and a row for each kind of bytes that moves; none where all stay where they are."""
    found = [
        (f"{move.role} copies", move.to, move.after_hours, "after the run" if move.role == "recent" else "old")
        for move in made.checkpoint.moves
    ]
    compressed = [kept.item for kept in made.storage if kept.compressed]
    rows = [("compressed", words.listed(compressed))] if compressed else []
    found += [(kept.item, kept.to, kept.after_hours or 0.0, "old") for kept in made.storage if kept.to is not None]
    return rows + [
        ("" if number else "lifecycle", f"{item}: to {to} when {_days(hours)} {since}")
        for number, (item, to, hours, since) in enumerate(found)
    ]


def _days(hours: float) -> str:
    return words.count(round(hours / HOURS_PER_DAY), "day")
