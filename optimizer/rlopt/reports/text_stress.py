"""A plan under stress, in sentences: what it costs and breaks then, and which plan would have been right."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from rlopt.plan import Plan, Stressed
from rlopt.reports import words
from rlopt.reports.layout import heading


def stress(plan: Plan) -> list[RenderableType]:
    """One paragraph for each pace."""
    if not plan.stress:
        return []
    confidence = plan.time.confidence if plan.time else 0.9
    return [*heading("Under stress"), *(Text(sentence(one, confidence)) for one in plan.stress)]


def sentence(one: Stressed, confidence: float) -> str:
    """What the plan is at one pace, and what to choose instead."""
    head = f"If every step takes {one.times:g} times what is predicted, this plan "
    if one.total_usd is None or one.confident_hours is None:
        return f"{head}makes no progress between two stops. {_instead(one)}"
    done = f"{words.chances(confidence)} are done within {words.hours(one.confident_hours)}"
    text = f"{head}costs {words.usd(one.total_usd)} and {done}"
    if one.meets_deadline is not None:
        text += ", the deadline is met" if one.meets_deadline else ", the deadline is missed"
    others = [key for key in dict.fromkeys(one.broken) if key != "limits.deadline"]
    if others:
        text += f"; it breaks {words.listed(others)}"
    return f"{text}. {_instead(one)}"


def _instead(one: Stressed) -> str:
    right, keeps = one.right, not one.broken
    if right is None:
        return "No plan keeps every limit and floor then."
    if right.same:
        return "It is still the right plan then."
    text = f"Right then: {words.machines(right.summary)}, {words.usd(right.total_usd)}"
    text += f" and done within {words.hours(right.confident_hours)}"
    if one.regret_usd is not None and keeps:
        more = f"{words.usd(abs(one.regret_usd))} {'less' if one.regret_usd >= 0 else 'more'}"
        text += f", {more} than this plan costs then"
    if not keeps and one.times > 1.0:
        text += f"; limits.robust: {{time: {one.times:g}}} asks for a plan that keeps its limits even then"
    return text + ("." if right.proven else " (the best found in the time given).")
