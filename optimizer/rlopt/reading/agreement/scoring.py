"""Where frozen models score."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import GENERATING


def own_scoring(view: View) -> Iterator[Finding]:
    """Look for scoring pools of their own where no plan may have separate pools."""
    if view.algorithm is None or view.get("choices.scoring") != ["own"]:
        return
    if view.algorithm not in GENERATING:
        why = f"{view.algorithm} has one pool"
    elif view.get("choices.placements") == ["colocated"]:
        why = "choices.placements allows colocated alone"
    else:
        return
    yield Finding(
        "choices.scoring",
        f"own cannot be had: {why}",
        "shared, or own with disaggregated or async",
        "write [shared]",
    )
