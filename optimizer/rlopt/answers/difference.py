"""Two plans side by side in money, hours and decisions: what `rlopt diff` prints (schema ``rlopt.diff/1``).

Everything is A, B and B minus A. Money is USD, hours are confident hours of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.plan import Dimension
from rlopt.strict import Strict


class Side(Strict):
    """One of the two."""

    name: str
    status: str
    total_usd: float | None
    expected_hours: float | None
    confident_hours: float | None


class LineChange(Strict):
    """A line of the bill that is in either; 0 where it is not in one."""

    dimension: Dimension
    item: str
    a_usd: float
    b_usd: float
    more_usd: float


class Change(Strict):
    """A decision, or a fact of a pool, that differs; null where there is none."""

    key: str
    """Dotted, as in a plan: ``decisions.group_size``, ``pools.train.gpus``."""
    a: Any
    b: Any


class Difference(Strict):
    """How B differs from A."""

    schema_: Literal["rlopt.diff/1"] = Field("rlopt.diff/1", alias="schema")
    a: Side
    b: Side
    more_usd: float | None
    """The sum of the lines' ``more_usd``; null where either has no bill."""
    more_hours: float | None
    lines: list[LineChange]
    """Lines whose money differs, the largest change first."""
    decisions: list[Change]
    pools: list[Change]

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """The difference as the JSON document of interface ``rlopt.diff/1``."""
        return self.model_dump(mode="json", by_alias=True)
