"""Why a plan is what it is, in sentences that say what, how much and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from rlopt.answers.explanation import Engineering, Explanation, MovedLimit, Worth
from rlopt.answers.plan import Plan, StageTime, Time
from rlopt.reports import words
from rlopt.reports.layout import bullets, facts, heading, paragraph
from rlopt.reports.text import infeasible as text_infeasible
from rlopt.reports.text.plan import headline
from rlopt.reports.text.rivals import LEAST_HOURS, LEAST_USD, rivals
from rlopt.reports.text.time import named, shown, waits

LEAST_OF_RUN = 1.0 / 120.0
"""Hours of a run that are told: half a minute."""
STOPPED = "Time was up before everything was looked at; what is written here holds, but there may be more."


def explanation_report(found: Explanation) -> list[RenderableType]:
    """Lay an explanation out for the terminal, of a plan or of why there is none."""
    plan = found.plan
    if not plan.pools:
        return [*text_infeasible.sections(plan), *_memory(found), *_combined(found), *_stopped(found)]
    return [
        paragraph(headline(plan), style="bold"),
        paragraph(f"Machines: {_machines(plan)}."),
        *heading("What holds it"),
        bullets(_limits(found.worth, plan)),
        *rivals(found.rivals, plan),
        *_engineering(found.engineering),
        *heading("Where the money goes"),
        facts(_money(plan)),
        *heading("Where the time goes"),
        facts(_time(plan)),
        *_stopped(found),
    ]


def _machines(plan: Plan) -> str:
    """Pools but the one that controls the run: ``train 2 H100-SXM on demand at aws + rollout 1 L40S spot at gcp``."""
    return " + ".join(
        f"{pool.name} {f'{pool.gpus} {pool.gpu}' if pool.gpu else f'{pool.nodes} {pool.instance_type}'} "
        f"{words.PRICING[pool.pricing]} at {pool.provider}"
        for pool in plan.pools
        if pool.name != "control"
    )


def _stopped(found: Explanation) -> list[RenderableType]:
    return [] if found.complete else [Text(), paragraph(STOPPED, style="yellow")]


def _memory(found: Explanation) -> list[RenderableType]:
    return [*heading("What does not fit"), bullets(found.misfit)] if found.misfit else []


def _combined(found: Explanation) -> list[RenderableType]:
    """The cheapest plan without limits, beside single changes that cost more."""
    if not found.changes or not found.together or any(isinstance(one, list) for one in found.plan.relaxations):
        return []
    cheapest = found.together[-1].total_usd
    if cheapest >= min(change.total_usd for change in found.changes) - LEAST_USD:
        return []
    return [*heading("Cheapest of all"), bullets(text_infeasible.together(found.together))]


def _limits(worth: Sequence[Worth], plan: Plan) -> list[str]:
    if not worth:
        return ["nothing: no limit or floor is reached, so the cheapest plan of all is the plan"]
    telling = [one for one in worth if _moves(one, plan)]
    quiet = [one for one in worth if one not in telling]
    lines = [_limit(one, plan) for one in telling]
    if quiet:
        names = words.listed([f"{one.constraint} ({words.amount(one.limit, one.unit)})" for one in quiet])
        many = "are reached, and loosening any of them saves nothing: leave them"
        lines.append(f"{names} {many if len(quiet) > 1 else 'is reached, and loosening it saves nothing: leave it'}")
    return lines


def _moves(one: Worth, plan: Plan) -> bool:
    """Whether a looser limit, or none, changes the bill or the hours for the better; or one tighter has a price."""
    return _pays(one, plan) or (one.tighter is not None and moved_usd(one.tighter, plan) > LEAST_USD)


def _pays(one: Worth, plan: Plan) -> bool:
    """Whether a looser limit, or none, saves money or hours."""
    if plan.cost is None or plan.time is None:
        return False
    return any(
        moved.total_usd < plan.cost.total_usd - LEAST_USD or moved.hours < plan.time.confident_hours - LEAST_HOURS
        for moved in (one.looser, one.without)
        if moved is not None
    )


def moved_usd(moved: MovedLimit, plan: Plan) -> float:
    """USD that a plan under a moved limit costs more than the plan."""
    return moved.total_usd - (plan.cost.total_usd if plan.cost else 0.0)


def _limit(one: Worth, plan: Plan) -> str:
    limit, used = words.amount(one.limit, one.unit), words.amount(one.value, one.unit)
    unit = words.amount(one.step, "" if one.unit in ("rank", "data rank") else one.unit)
    text = f"{one.constraint} is {limit}" + ("" if used == limit else f", the plan takes {used}")
    parts = [] if _pays(one, plan) else ["Loosening it saves nothing, leave it"]
    if parts == [] and one.looser is not None:
        parts.append(f"{unit} looser: {_change(one.looser, plan)}")
    parts.append(
        f"{unit} tighter leaves no plan" if one.tighter is None else f"{unit} tighter: {_change(one.tighter, plan)}"
    )
    if _pays(one, plan) and one.without is not None and one.without != one.looser:
        parts.append(f"without it: {_change(one.without, plan)}, at {words.amount(one.without.value, one.unit)}")
    return f"{text}. {'; '.join(parts)}"


def _change(moved: MovedLimit, plan: Plan) -> str:
    usd = moved_usd(moved, plan)
    hours = moved.hours - (plan.time.confident_hours if plan.time else 0.0)
    money = "the same bill" if abs(usd) < LEAST_USD else f"{words.usd(abs(usd))} {'more' if usd > 0 else 'less'}"
    if abs(hours) < LEAST_HOURS:
        return money
    return f"{money}, done {words.hours(abs(hours))} {'later' if hours > 0 else 'sooner'}"


def _engineering(found: Sequence[Engineering]) -> list[RenderableType]:
    return [*heading("Engineer hours against compute"), bullets(map(engineering, found))] if found else []


def _money(plan: Plan) -> list[tuple[str, str]]:
    if plan.cost is None or not plan.cost.total_usd:
        return []
    total = plan.cost.total_usd
    rows: list[tuple[str, str]] = []
    names = list(dict.fromkeys(line.dimension for line in plan.cost.lines))
    sums = {name: sum(line.usd for line in plan.cost.lines if line.dimension == name) for name in names}
    for name in sorted(names, key=lambda name: -sums[name]):
        if sums[name] < LEAST_USD:
            continue
        largest = max((line for line in plan.cost.lines if line.dimension == name), key=lambda line: line.usd)
        text = f"{words.usd(sums[name])}, {words.percent(sums[name] / total)}"
        rows.append((name, f"{text}; the largest line is {largest.item} with {words.usd(largest.usd)}"))
    return rows


def _time(plan: Plan) -> list[tuple[str, str]]:
    if plan.time is None:
        return []
    time = plan.time
    rows = [("a step", f"{words.seconds(time.step_seconds)}, {time.steps:,} of them")]
    rows += [("", text) for text in waits(time)]
    rows += [
        _stage(stage, time) for stage in sorted(time.stages, key=lambda stage: -stage.seconds) if shown(stage, time)
    ]
    parts = (
        ("before the first step and after the last", time.startup_hours),
        ("once over the data", time.once_hours),
        ("standing still for checkpoints", time.saving_hours),
        ("failures and restarts", time.expected_hours - time.failure_free_hours),
        ("room for the prediction's error", time.confident_hours - time.expected_hours),
    )
    rows += [(name, f"{words.hours(hours)} of the run") for name, hours in parts if hours >= LEAST_OF_RUN]
    return rows


def _stage(stage: StageTime, time: Time) -> tuple[str, str]:
    name, model, pool = named(stage, time.stages)
    text = f"{words.seconds(stage.seconds)} on {pool}"
    if stage.utilization is not None:
        text = f"{text}, {words.percent(stage.utilization)} busy meanwhile"
    return f"{name} {model}".strip(), text if stage.limited_by is None else f"{text}; limited by {stage.limited_by}"


def engineering(one: Engineering) -> str:
    """One sentence."""
    name = f"{one.placement}, the plan's own," if one.chosen else one.placement
    if one.pays_after_runs is None:
        return f"{name} saves no compute against {one.simplest}{_hours(one)}: it never pays by compute alone"
    text = f"{name} saves {words.usd(one.saved_usd_per_run)} of compute a run against {one.simplest}{_hours(one)}"
    if not one.pays_after_runs:
        return f"{text}: it pays at once"
    return f"{text}: paid after {words.count(one.pays_after_runs, 'run')}"


def _hours(one: Engineering) -> str:
    if not one.more_hours:
        return " and takes as many engineer hours"
    change = "more" if one.more_hours > 0 else "fewer"
    hours = words.number(abs(one.more_hours))
    if hours == "1":
        return f" and takes one {change} engineer hour ({words.usd(abs(one.more_usd))} once)"
    return f" and takes {hours} {change} engineer hours ({words.usd(abs(one.more_usd))} once)"
