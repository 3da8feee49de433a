"""What may be left out because it follows from other keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlopt.reading.agreement.contract import View
from rlopt.reading.agreement.groups import floor_of_groups, sizes_of_table
from rlopt.reading.agreement.value_model import bins_of
from rlopt.request import GENERATING, ROLE_DEFAULTS, ROLES


def with_defaults(tree: Mapping[str | int, Any]) -> dict[str | int, Any]:
    """Write in what depends on other keys: roles that may be left out, group sizes and value bins.

    Group sizes, where none are named: those of the convergence table; else 1 for ppo, opd and vla; else the
    floor, because steps do not depend on K then and more samples than the floor asks for only cost more. Bins of
    the value model likewise: those of their table of steps, else the floor.
    """
    view, filled = View(tree), dict(tree)
    algorithm = view.algorithm
    if algorithm is None:
        return filled
    models = view.get("job.models")
    if isinstance(models, Mapping):
        roles = {role: word for role, word in ROLE_DEFAULTS.items() if role in ROLES[algorithm]}
        filled["job"] = {**view.map("job"), "models": {**roles, **models}}
    choices = view.get("choices")
    if algorithm in GENERATING and view.get("choices.group_size") is None and isinstance(choices, Mapping | None):
        table = sizes_of_table(view)
        floor = floor_of_groups(view)
        sizes = table or ([1] if algorithm != "grpo" else [floor] if floor is not None else [])
        if sizes:
            filled["choices"] = choices = {**(choices or {}), "group_size": sizes}
    bins = bins_of(view)
    if bins and view.get("choices.value_bins") is None and isinstance(choices, Mapping | None):
        filled["choices"] = {**(choices or {}), "value_bins": bins}
    return filled
