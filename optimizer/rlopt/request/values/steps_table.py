"""Steps of a run by what decides them: group sizes, or action heads and perhaps group sizes for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rlopt.request.values.kinds import Count, Whole, refuse, show
from rlopt.words import ActionHead

Steps = dict[int, int]
"""Group size to steps."""
StepsTable = Steps | dict[str, int | Steps]
"""Group size to steps, or action head to steps of all group sizes or of each."""


class StepsKind:
    """Marker of a `StepsTable`: a map of which one key is a head is a table of heads, any other one of group sizes."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(_read, handler.generate_schema(dict[Whole, Whole]))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        sizes: JsonSchemaValue = dict(handler(schema["schema"])) if "schema" in schema else {"type": "object"}
        sizes |= {"propertyNames": {"not": {"enum": list(ActionHead)}}}
        steps = {"anyOf": [{"type": "integer", "minimum": 1}, dict(sizes)]}
        heads = {
            "type": "object",
            "properties": {head: dict(steps) for head in ActionHead},
            "additionalProperties": False,
            "minProperties": 1,
        }
        return {"anyOf": [sizes, heads]}


def _read(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    if not isinstance(value, Mapping) or not set(ActionHead) & set(value):
        return handler(value)
    foreign = [key for key in value if key not in tuple(ActionHead)]
    if foreign:
        message = f"{show(foreign[0])} is no action head"
        raise refuse(message, f"heads alone: {', '.join(ActionHead)}", "keep heads, or group sizes, as keys")
    return {head: handler(steps) if isinstance(steps, Mapping) else Count(1).read(steps, info)
            for head, steps in value.items()}  # fmt: skip


def by_head(table: StepsTable | None) -> bool:
    """Whether a table tells steps by action head."""
    return table is not None and any(isinstance(key, str) for key in table)


def steps_of(table: StepsTable, group_size: int | None, head: str | None) -> int | None:
    """Look up the steps of one group size under one head; None where the table has none."""
    entry: Any = table
    if by_head(table):
        entry = entry.get(head)
    if isinstance(entry, Mapping):
        return None if group_size is None else entry.get(group_size)
    found: int | None = entry
    return found


def longest(table: StepsTable) -> int:
    """Most steps of any entry; 0 in an empty table."""
    entries = [list(entry.values()) if isinstance(entry, Mapping) else [entry] for entry in table.values()]
    return max((steps for found in entries for steps in found), default=0)
