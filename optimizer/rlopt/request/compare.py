"""What each algorithm of a comparison needs of its own, over the request that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ValidationInfo
from pydantic.json_schema import JsonSchemaValue

from rlopt.request.values.kinds import Kind, refuse, show
from rlopt.words import AlgorithmName

SECTIONS: Final = ("job", "choices", "limits", "floors", "costs", "recovery", "checkpoint")
"""Sections of a request that an algorithm may change."""
_EXAMPLE: Final = "{job: {steps: 300}}"


class OverridesKind(Kind):
    """Part of a request: sections with the keys that differ; they are read in full when the comparison is made."""

    def read(self, value: Any, info: ValidationInfo) -> dict[str, Any]:
        """Return the sections as they are written."""
        allowed = f"a map with {', '.join(SECTIONS)}"
        if not isinstance(value, Mapping):
            message = f"{show(value)} is not a map"
            raise refuse(message, allowed, f"write {_EXAMPLE}")
        for name, keys in value.items():
            if name not in SECTIONS:
                message = f"{show(name)} is no section that a comparison changes"
                raise refuse(message, allowed, f"write for example {_EXAMPLE}")
            if not isinstance(keys, Mapping):
                message = f"{name} is {show(keys)}, not a map"
                raise refuse(message, f"a map of keys of {name}", f"write for example {_EXAMPLE}")
        if "algorithm" in value.get("job", {}):
            message = "job.algorithm is said by the name in front"
            raise refuse(message, "other keys of job", "delete algorithm")
        return dict(value)

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the sections."""
        sections = {name: {"type": "object"} for name in SECTIONS}
        return {"type": "object", "properties": sections, "additionalProperties": False}


Compared = dict[AlgorithmName, Annotated[dict[str, Any], OverridesKind()]]
