"""Where each key of a request was written, for complaints that come after reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class KeyPlaces:
    """Places of the keys that files and overrides set.

    Parameters
    ----------
    places
        Dotted key to (file, line); the line is ``None`` for ``--set`` and for requests built in Python.
    file
        The user's file as it was named.
    """

    places: Mapping[str, tuple[str, int | None]] = field(default_factory=dict)
    file: str | None = None

    def locate(self, key: str) -> tuple[str | None, int | None]:
        """Give (file, line) of a dotted key, or of the nearest key above it that was written."""
        while key:
            if key in self.places:
                return self.places[key]
            key = re.sub(r"(^|\.)[^.\[\]]*$|\[[^\]]*\]$", "", key)
        return self.file, None

    def __eq__(self, other: object) -> bool:
        """Two requests that ask the same are equal wherever they were written."""
        return isinstance(other, KeyPlaces)

    def __hash__(self) -> int:
        return hash(KeyPlaces)
