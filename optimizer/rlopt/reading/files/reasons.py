"""Reasons for loosened floors: ``floors.because`` for all, ``{value, because}`` for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rlopt.errors import Complaint
from rlopt.reading.files.floor_order import leaves
from rlopt.reading.files.tree import Places, join
from rlopt.request import FLOOR_GROUPS
from rlopt.request.values.kinds import show


@dataclass(frozen=True, slots=True)
class Becauses:
    """Reasons that a file gives: `general` for all floors it states itself, `single` for some of them."""

    general: str | None = None
    single: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()

    def of(self, floor: str) -> str | None:
        """Find the reason for a floor: its own, that of the floors around it, the general one."""
        general = self.general if floor in self.stated else None
        while floor:
            if floor in self.single:
                return self.single[floor]
            floor = floor.rpartition(".")[0]
        return general


def unwrap(value: dict[str | int, Any], places: Places, name: str, complaints: list[Complaint]) -> Becauses:
    """Take ``because`` out of the floors: the general one, and those in ``{value, because}``."""
    floors = value.get("floors")
    if not isinstance(floors, dict):
        return Becauses()
    single: dict[str, str] = {}
    value["floors"] = floors = _plain(floors, "", places, name, single, complaints)
    general = floors.get("because")
    if "because" in floors:
        general = _reason("because", general, places, name, complaints)
    return Becauses(general, single, frozenset(floor for floor, _ in leaves(floors)))


def _plain(
    floors: Mapping[str | int, Any],
    path: str,
    places: Places,
    name: str,
    single: dict[str, str],
    complaints: list[Complaint],
) -> dict[str | int, Any]:
    plain: dict[str | int, Any] = {}
    for key, inner in floors.items():
        here = join(path, key)
        if isinstance(inner, dict) and "because" in inner:
            file, line = places.get(f"floors.{here}", (name, None))
            text = _reason(f"{here}.because", inner["because"], places, name, complaints)
            if text is not None:
                single[here] = text
            extra = [k for k in inner if k not in ("value", "because")]
            if "value" in inner and not extra:
                inner = inner["value"]
            elif "value" not in inner and here in FLOOR_GROUPS:
                inner = {k: v for k, v in inner.items() if k != "because"}
            else:
                wrong = f"the key {show(extra[0])} stands" if extra else "value is missing"
                complaints.append(
                    Complaint(
                        file,
                        line,
                        f"floors.{here}",
                        f"{wrong} beside because",
                        "{value, because}",
                        "write {value: ..., because: why}",
                    )
                )
                continue
        plain[key] = _plain(inner, here, places, name, single, complaints) if isinstance(inner, dict) else inner
    return plain


def _reason(key: str, text: Any, places: Places, name: str, complaints: list[Complaint]) -> str | None:
    if isinstance(text, str) and text.strip():
        return " ".join(text.split())
    if text is None and places.get(f"floors.{key}") is None:
        return None
    file, line = places.get(f"floors.{key}", (name, None))
    complaints.append(
        Complaint(
            file,
            line,
            f"floors.{key}",
            f"{show(text)} is no reason",
            "a sentence",
            "say why the floor may be lower",
        )
    )
    return None
