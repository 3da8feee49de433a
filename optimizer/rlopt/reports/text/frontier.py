"""Cost against time as a table: what a faster run costs and what a slower one saves."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from rlopt.answers.plan import Frontier, Plan
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.layout import Fitting, bullets, indented, paragraph, table
from rlopt.units import hours_to_seconds

MARK = "◂"
"""Marks the knee."""
WORST = "expected hours and bills are those of the predicted pace"
"""What a factor for the worst case leaves as it is."""
NUMBERS = ("confident", "expected", "total", "saves", "GPUs", "K")


def frontier_report(frontier: Frontier) -> list[RenderableType]:
    """Lay a frontier out by time, fastest first, each row with what it saves against the row above."""
    points = [plan for plan in frontier.points if plan.cost is not None and plan.time is not None]
    if not points:
        return [paragraph("No plan keeps every limit and floor of the request; rlopt solve says what would help.")]
    unproven = sum(plan.status != "optimal" for plan in points)
    exact = _alike(points)
    rows = []
    before: float | None = None
    marked = None if frontier.knee is None else frontier.points[frontier.knee]
    for plan in points:
        cells = row(plan, before, exact)
        rows.append((f"{cells[0]} {MARK}", *cells[1:]) if plan is marked else cells)
        before = plan.cost.total_usd if plan.cost is not None else None
    verdict = "Each is proven: nothing as fast costs less."
    if unproven:
        verdict = f"{unproven} of them not proven (marked *): the time limit came first."
    worst = points[0].worst
    even = "" if worst is None else f" even if every step takes {worst.times:g} times what is predicted"
    title = f"{points[0].job or tr('This job')}: {words.count(len(points), 'plan')}, fastest first. {verdict}"
    narrow = [(row[0], row[2], row[5], row[6], row[7] and f"K {row[7]}") for row in rows]
    columns = ("confident", "expected", "total", "saves", "GPUs", "machines", "placement", "K")
    return [
        paragraph(title, style="bold"),
        Text(),
        Fitting(table(columns, rows, right=NUMBERS), bullets(", ".join(filter(None, row)) for row in narrow)),
        Text(),
        *([] if marked is None else [indented(paragraph(knee_in_words(points, points.index(marked))))]),
        indented(
            paragraph(
                f"confident: {words.chances(_confidence(points))} are done by then{even}; saves: against the row above",
                style="dim",
            )
        ),
        *([] if worst is None else [indented(paragraph(WORST, style="dim"))]),
    ]


def knee_in_words(points: list[Plan], at: int) -> str:
    """What an hour saved costs on either side of the marked plan."""
    faster, slower = _usd_per_hour(points[at - 1], points[at]), _usd_per_hour(points[at], points[at + 1])
    return (
        f"{MARK} Past this plan an hour saved gets dearer fastest: the next faster plan costs {words.usd(faster)} more "
        f"for each hour that it saves, this one {words.usd(slower)} against the next slower."
    )


def _usd_per_hour(faster: Plan, slower: Plan) -> float:
    """USD that each hour saved costs between two plans."""
    if faster.cost is None or faster.time is None or slower.cost is None or slower.time is None:
        return 0.0
    hours = slower.time.confident_hours - faster.time.confident_hours
    return (faster.cost.total_usd - slower.cost.total_usd) / hours if hours > 0.0 else 0.0


def _alike(points: list[Plan]) -> bool:
    """Whether two plans would read as equally fast: their hours are then told to the second."""
    told = [words.hours(plan.time.confident_hours) for plan in points if plan.time is not None]
    return len(set(told)) < len(told)


def _clock(hours: float) -> str:
    """``2:07:30 h``: hours, minutes and seconds."""
    minutes, seconds = divmod(round(hours_to_seconds(hours)), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d} h"


def row(plan: Plan, before: float | None, exact: bool = False) -> tuple[str, ...]:
    """Cells of a plan in the table; ``before`` is the total of the next faster one, ``exact`` gives seconds."""
    cost, time, decisions = plan.cost, plan.time, plan.decisions
    if cost is None or time is None:
        return ("",) * 8
    return (
        _clock(time.confident_hours) if exact else words.hours(time.confident_hours),
        words.hours(time.expected_hours),
        words.usd(cost.total_usd) + ("" if plan.status == "optimal" else " *"),
        "" if before is None else words.usd(before - cost.total_usd),
        str(sum(pool.gpus for pool in plan.pools)),
        machines(plan, all_pools=False),
        "" if decisions is None else decisions.placement,
        "" if decisions is None or decisions.group_size is None else str(decisions.group_size),
    )


def machines(plan: Plan, all_pools: bool = True) -> str:
    """Pools in one phrase: ``2 × 8 H100-SXM aws on demand + 4 × 1 L4 gcp spot``; all of them, or those with GPUs."""
    return " + ".join(
        f"{pool.nodes} × {f'{pool.gpus_per_node} {pool.gpu}' if pool.gpu else pool.instance_type} "
        f"{pool.provider} {words.PRICING.get(pool.pricing, pool.pricing)}"
        for pool in plan.pools
        if all_pools or pool.gpu
    )


def gpus(plan: Plan) -> str:
    """``8 × H100-SXM + 4 × L40S``: all GPUs of a plan by their type."""
    counts: dict[str, int] = {}
    for pool in plan.pools:
        if pool.gpu:
            counts[pool.gpu] = counts.get(pool.gpu, 0) + pool.gpus
    return " + ".join(f"{count} × {name}" for name, count in counts.items())


def _confidence(points: list[Plan]) -> float:
    time = points[0].time
    return 0.0 if time is None else time.confidence
