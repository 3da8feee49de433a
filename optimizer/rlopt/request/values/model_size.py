"""Sizes of models by their number of weights, and a value model that stands on the policy's own backbone."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import ValidationInfo
from pydantic.json_schema import JsonSchemaValue

from rlopt.request.values.kinds import Count, Kind, refuse, show
from rlopt.strict import Strict

_SCALES: Final = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT])")
_LEAST: Final = 1000


class SizeKind(Kind):
    """A number of weights: ``400M``, ``1.5B`` or a plain number."""

    def read(self, value: Any, info: ValidationInfo) -> int:
        """Return the number of weights."""
        allowed, fix = f"a number of weights, {_LEAST} or more, such as 400M or 4e8", "write for example 400M"
        if isinstance(value, str):
            found = _WRITTEN.fullmatch(value.strip()[:60])
            if found is None:
                message = f"{show(value)} is not a number of weights"
                raise refuse(message, allowed, fix)
            value = round(float(found[1]) * _SCALES[found[2]])
        return Count(_LEAST, example="400M").read(value, info)

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of both ways to write it."""
        written = {"type": "string", "pattern": r"^\d+(\.\d+)?\s*[KMBT]$"}
        return {"anyOf": [{"type": "integer", "minimum": _LEAST}, written]}


ModelSize = Annotated[int, SizeKind()]


class SharedValue(Strict):
    """A value model on the policy's frozen backbone, whose weights are held once; a head on top is trained."""

    share: Literal["backbone"]
    """backbone: the policy's own layers, which must be frozen."""
    head: ModelSize
    """Weights of the trained head on top, such as 400M."""
