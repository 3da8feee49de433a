"""How sure a plan is, in sentences: runs that meet the deadline, and between which bills most runs lie."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from rlopt.answers.plan import Plan
from rlopt.reports import words
from rlopt.reports.layout import paragraph

SURE = 0.9995
"""From here on a share of runs reads as all of them to a tenth of a percent."""


def meets_deadline(plan: Plan) -> str:
    """``; 94.8% of runs meet it``; empty where nothing is known of it."""
    certainty = plan.certainty
    if certainty is None or certainty.deadline_probability is None:
        return ""
    many = share_in_words(certainty.deadline_probability)
    return f"; {many} of runs meet it" + (" at the predicted pace" if plan.worst else "")


def share_in_words(share: float) -> str:
    """``94.8%``; what rounds to all or none is said to be short of it."""
    return "more than 99.9%" if share >= SURE else "fewer than 0.1%" if share < 1.0 - SURE else f"{share:.1%}"


def bills(plan: Plan) -> list[RenderableType]:
    """Between which bills most runs lie, and what prices of spot machines add to that."""
    found = plan.certainty
    if found is None:
        return []
    many = words.chances(found.confidence)
    if found.high_usd is None or found.high_hours is None:
        text = f"How sure: slow runs of {many} make no progress between two stops; the quickest cost "
        return [Text(), Text(text + f"{words.usd(found.low_usd)}.")]
    low, high = words.usd(found.low_usd), words.usd(found.high_usd)
    text = f"How sure: {many} cost between {low} and {high}, by how far predicted times have been off"
    text += "; failures count at their expected number."
    if found.spot_low_usd is not None and found.spot_high_usd is not None:
        low, high = words.usd(found.spot_low_usd), words.usd(found.spot_high_usd)
        text += f" At the lowest and highest spot price of any zone the predicted run costs {low} and {high}."
    return [Text(), paragraph(text)]
