"""How the policy of a plan acts, and what its samples are screened by before they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rlopt.answers.plan import Decisions
from rlopt.reports import words

HEADS: Final[Mapping[str, str]] = {
    "flow": "a flow head, several denoising steps a chunk of actions",
    "one_step": "a single denoising step a chunk of actions",
    "tokens": "action tokens, one after another",
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
