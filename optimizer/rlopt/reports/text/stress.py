"""A plan under stress, slower or at a heavier load, in sentences: its bill, what it breaks, what is right then."""

from __future__ import annotations

from rich.console import RenderableType

from rlopt.answers.plan import Peak, Plan, Stressed
from rlopt.reports import words
from rlopt.reports.layout import heading, paragraph


def stress(plan: Plan) -> list[RenderableType]:
    """One paragraph for each pace."""
    if not plan.stress and not plan.peaks:
        return []
    confidence = plan.time.confidence if plan.time else 0.9
    deadline = plan.time.deadline_hours if plan.time else None
    said = [sentence(one, confidence, deadline) for one in (*plan.stress, *plan.peaks)]
    if plan.phases:
        said.append("What is done before the job keeps its predicted bill at a slower pace.")
    return [*heading("Under stress"), *map(paragraph, said)]


def sentence(one: Stressed, confidence: float, deadline_hours: float | None = None) -> str:
    """What the plan is at one pace or load, and what to choose instead."""
    head = f"If every step takes {one.times:g} times what is predicted, this plan "
    if isinstance(one, Peak):
        heavier = "responses are" if one.what == "length" else "every step has"
        heavier += f" {one.times:g} times {'as long' if one.what == 'length' else 'the samples'}"
        head = f"If {heavier}, this plan "
        if not one.fits:
            return f"{head}cannot run: {one.misfit}. {_instead(one)}"
    if one.total_usd is None or one.confident_hours is None:
        return f"{head}makes no progress between two stops. {_instead(one)}"
    done = f"{words.chances(confidence)} are done within {words.hours(one.confident_hours)}"
    text = f"{head}costs {words.usd(one.total_usd)} and {done}"
    if one.meets_deadline:
        text += ": the deadline is met"
    elif one.meets_deadline is not None and deadline_hours is not None:
        text += f": the deadline is missed by {words.hours(one.confident_hours - deadline_hours)}"
    elif one.meets_deadline is not None:
        text += ": the deadline is missed"
    others = [key for key in dict.fromkeys(one.broken) if key != "limits.deadline"]
    if others:
        text += f"; it breaks {words.listed(others)}"
    return f"{text}. {_instead(one)}"


def _instead(one: Stressed) -> str:
    right, keeps = one.right, not one.broken
    if right is None:
        return "No plan keeps every limit and floor then: one of them must be loosened first."
    if right.same:
        return "It is still the right plan then: nothing is to be changed."
    name = "the same machines with other settings" if right.same_machines else words.machines(right.summary)
    text = f"Then the right plan is {name} for {words.usd(right.total_usd)}"
    text += f", done within {words.hours(right.confident_hours)}"
    if one.regret_usd is not None and keeps:
        more = f"{words.usd(abs(one.regret_usd))} {'less' if one.regret_usd >= 0 else 'more'}"
        text += f", {more} than this plan costs then"
    if not right.proven:
        text += " (the best found in the time given)"
    return f"{text}. {_ask(one)}".rstrip()


def _ask(one: Stressed) -> str:
    """What to write into the request to plan for that case from the start."""
    if isinstance(one, Peak):
        return "To plan for it from the start, write that load into the request."
    if not one.broken or one.times <= 1.0:
        return ""
    return f"To plan for it from the start, set limits.robust: {{time: {one.times:g}}}."
