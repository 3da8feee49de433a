"""Lifecycle rules of a plan's storage as data: what moves to which tier at which age.

Ages are whole days, as rules of object stores count them (S3 "Transitioning objects using Amazon S3 Lifecycle",
Cloud Storage "Object Lifecycle Management": condition ``age``, Azure "Blob lifecycle management": days after
modification).
"""

from __future__ import annotations

from typing import Any, Final

from rlopt.answers.plan import Plan
from rlopt.units import HOURS_PER_DAY

CREATED: Final = "creation"
ENDED: Final = "end of the run"


def lifecycle_rules(plan: Plan) -> list[dict[str, Any]]:
    """One rule for each kind of bytes that moves; none where all stay where they are."""
    made = plan.decisions
    if made is None:
        return []
    first = {role: use.tier for use in made.checkpoint.tiers for role in use.roles}
    moves = [
        (f"{move.role} checkpoints", first[move.role], move.to, move.after_hours, move.role == "recent")
        for move in made.checkpoint.moves
    ]
    moves += [(kept.item, kept.tier, kept.to, kept.after_hours or 0.0, False) for kept in made.storage if kept.to]
    return [
        {
            "item": item,
            "from": here,
            "to": there,
            "after_days": round(hours / HOURS_PER_DAY),
            "counted_from": ENDED if ended else CREATED,
        }
        for item, here, there, hours, ended in moves
    ]
