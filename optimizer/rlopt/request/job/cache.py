"""What a run holds in a fast store while it trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ValidationInfo
from pydantic.json_schema import JsonSchemaValue

from rlopt.request.values.kinds import Count, Kind, NotNegative, refuse, show
from rlopt.request.values.quantities import Quantity
from rlopt.strict import Strict
from rlopt.units import SIZE_UNITS

_SIZE: Final = Quantity("size", SIZE_UNITS, "80 GiB", low_open=False)
_ITEMS: Final = Count(0, example="20000")
_FORM: Final = "{items: 20000, bytes_per_item: 40 kB}"


class HeldKind(Kind):
    """Bytes, or items of a size each."""

    def read(self, value: Any, info: ValidationInfo) -> float:
        """Return bytes."""
        if not isinstance(value, Mapping):
            return _SIZE.read(value, info)
        if set(value) != {"items", "bytes_per_item"}:
            message = f"{show(', '.join(map(str, value)))} does not say how much is held"
            raise refuse(message, "a size, or a map of items and bytes_per_item", f"write {_FORM}")
        return _ITEMS.read(value["items"], info) * _SIZE.read(value["bytes_per_item"], info)

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of both forms."""
        parts = {"items": _ITEMS.schema(), "bytes_per_item": _SIZE.schema()}
        items = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        return {"anyOf": [_SIZE.schema(), items]}


Held = Annotated[float, HeldKind()]


class Cache(Strict):
    """Bytes held, each a size or {items, bytes_per_item}, and operations at the peak: they choose the store's size."""

    replay: Held = 0.0
    """Replay buffer, in bytes."""
    index: Held = 0.0
    """Index of samples or trajectories, in bytes."""
    reward_intermediates: Held = 0.0
    """What rewards are computed from, in bytes."""
    good_samples: Held = 0.0
    """Samples kept because they scored well, in bytes."""
    transcripts: Held = 0.0
    """Dialogues and tool outputs kept for reuse, in bytes."""
    peak_ops: NotNegative = 0.0
    """Reads and writes a second at the peak; where the catalog states what a node of a store carries, they count."""

    @property
    def held_bytes(self) -> float:
        """All bytes held."""
        return self.replay + self.index + self.reward_intermediates + self.good_samples + self.transcripts
