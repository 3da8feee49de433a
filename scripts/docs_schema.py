"""Tables of keys from a JSON Schema: the pages of the request's keys and of the plan's fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = Mapping[str, Any]
DEEPEST = 4
"""Level of the smallest headings."""
MOST_NAMED = 3
"""Keys that a map without a name has in the text of a cell; one with more gets a table of its own."""
_UNIT_TAIL = re.compile(r"\(([A-Za-z|]+)\)\\s\*\$$")
_OPEN = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
}


@dataclass(slots=True)
class Pages:
    """Writes records as sections of a table each; a record that stands in several places is written once."""

    definitions: Schema
    marks: Mapping[str, str]
    """What a table's last columns are called: field of the schema to heading."""
    written: dict[str, str] = field(default_factory=dict)
    """Name of a definition to the place that describes it."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What is said of a field that says nothing of itself, by place."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The same by name."""

    def section(self, path: str, record: Schema, level: int) -> list[str]:
        """Lines of one record and of the records in it."""
        heading = f"{'#' * min(level, DEEPEST)} {path}"
        told = [record["description"], ""] if record.get("description") else []
        inside: list[tuple[str, Schema]] = []
        rows = [self._row(path, name, value, record, inside) for name, value in record["properties"].items()]
        head = ["key", "takes", *self.marks.values()]
        lines = [heading, "", *told, f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows, ""]
        for place, found in inside:
            lines += self.section(place, found, level + 1)
        return lines

    def _row(self, path: str, name: str, value: Schema, record: Schema, inside: list[tuple[str, Schema]]) -> str:
        place = f"{path}.{name}" if path and path[0].islower() else name
        takes = self._takes(value, place, inside)
        cells = []
        for mark in self.marks:
            if mark == "default":
                required = name in record.get("required", [])
                cells.append("required" if required else _shown(value["default"]) if "default" in value else "–")
            else:
                cells.append(_cell(str(value.get(mark) or self._told(place, name, value))))
        return f"| `{name}` | {takes} | {' | '.join(cells)} |"

    def _told(self, place: str, name: str, value: Schema) -> str:
        """What a field is that has no words of its own: given here, or its record's, or as the name says anywhere."""
        if place in self.fields:
            return self.fields[place]
        options = [value, *value.get("anyOf", []), value.get("items", {})]
        records = [one["$ref"].rpartition("/")[2] for one in options if "$ref" in one]
        told = [str(self.definitions[record].get("description", "")) for record in records]
        return told[0] if told and told[0] else self.names.get(name, "")

    def _takes(self, value: Schema, place: str, inside: list[tuple[str, Schema]]) -> str:
        if "$ref" in value:
            return self._record(value["$ref"].rpartition("/")[2], place, inside)
        if "anyOf" in value or "oneOf" in value:
            options = [self._takes(one, place, inside) for one in value.get("anyOf", value.get("oneOf", []))]
            return " or ".join(dict.fromkeys(one for one in options if one))
        if "allOf" in value:
            return self._takes(value["allOf"][0], place, inside)
        if "const" in value:
            return _shown(value["const"])
        if "enum" in value:
            return ", ".join(_shown(one) for one in value["enum"])
        return self._plain(value, place, inside)

    def _plain(self, value: Schema, place: str, inside: list[tuple[str, Schema]]) -> str:
        kind = value.get("type")
        if kind == "array":
            items = value.get("items") or (value.get("prefixItems") or [{}])[0]
            return f"list of {self._takes(items, place, inside)}"
        if kind == "object":
            if len(value.get("properties", {})) > MOST_NAMED:
                name = " ".join(
                    value["properties"]
                )  # a record without a name of its own: the same keys, the same record
                return self._record(name, place, inside, value)
            if value.get("properties"):
                keys = ", ".join(f"`{name}`" for name in value["properties"])
                return f"a map with {keys}"
            more = value.get("additionalProperties")
            return f"a map to {self._takes(more, place, inside)}" if isinstance(more, dict) and more else "a map"
        if kind == "string":
            return _text(value)
        if kind in ("number", "integer"):
            limits = [form.format(f"{value[key]:g}") for key, form in _OPEN.items() if key in value]
            return " ".join(
                ["whole number" if kind == "integer" else "number", *([", ".join(limits)] if limits else [])]
            )
        return {"boolean": "`true` or `false`", "null": ""}.get(str(kind), "anything")

    def _record(self, name: str, place: str, inside: list[tuple[str, Schema]], own: Schema | None = None) -> str:
        definition = self.definitions[name] if own is None else own
        if "properties" not in definition:
            return self._takes(definition, place, inside)
        if name not in self.written:
            self.written[name] = place
            inside.append((place, definition))
        return f"[{self.written[name]}](#{anchor(self.written[name])})"


def anchor(heading: str) -> str:
    """The place of a heading within its page, as Markdown gives it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _text(value: Schema) -> str:
    units = _UNIT_TAIL.search(value.get("pattern", ""))
    example = next(iter(value.get("examples", [])), None)
    such = f", such as `{example}`" if example else ""
    if units:
        return f"number with {', '.join(units[1].split('|'))}{such}"
    return ("money" if "[A-Z]{3}" in value.get("pattern", "") else "text") + such


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"`{value}`" if value else "empty"
    return f"`{json.dumps(value)}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
