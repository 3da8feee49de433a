"""What a more complicated placement saves, and after how many runs its engineer hours are paid."""

from __future__ import annotations

from rlopt.answers.explanation import Engineering
from rlopt.reports import words


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
