"""What a check of agreement reads and says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rlopt.request import ROLES


class Finding(NamedTuple):
    """What does not agree: dotted key, what is wrong, what is allowed, one fix."""

    key: str
    message: str
    allowed: str
    fix: str


@dataclass(frozen=True, slots=True)
class View:
    """A merged tree, read by dotted key; what is missing or of another type is None."""

    tree: Mapping[str | int, Any]

    def get(self, key: str) -> Any:
        """Read any value."""
        value: Any = self.tree
        for step in key.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(step)
        return value

    def map(self, key: str) -> Mapping[Any, Any]:
        """Read a map; empty where there is none."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else {}

    def number(self, key: str) -> float | None:
        """Read a number."""
        value = self.get(key)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def algorithm(self) -> str | None:
        """The algorithm, where it is a known one."""
        value = self.get("job.algorithm")
        return value if isinstance(value, str) and value in ROLES else None


Check = Callable[[View], Iterator[Finding]]
