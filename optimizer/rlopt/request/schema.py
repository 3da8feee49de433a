"""JSON Schema of constraints.yaml as people write it, for editors (draft 2020-12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from rlopt.request.floors import FLOOR_GROUPS, TIGHTNESS
from rlopt.request.request import FILLED_IN, Request

DIALECT: Final = GenerateJsonSchema.schema_dialect
_COMPLETED: Final = ("kv_heads", "head_dim", "ffn", "tokens_per_image")
"""Fields that reading completes from others, so they may be left out."""
_NULL: Final = {"type": "null"}
_BECAUSE: Final = {
    "type": "string",
    "minLength": 1,
    "description": "Why the floor may be lower than a preset's.",
}


def json_schema() -> dict[str, Any]:
    """Build the schema: field docstrings are its descriptions, patterns spell the units.

    Returns
    -------
    dict
        A JSON document. What depends on several keys at once (one of steps, epochs and convergence; roles of
        an algorithm) is checked on reading, not here.
    """
    schema = Request.model_json_schema(mode="validation")
    for name in FILLED_IN:
        schema["properties"].pop(name, None)
    extends = {"type": "string", "minLength": 1, "description": "A preset by name, or a path to a file."}
    schema["properties"] = {
        "version": schema["properties"].pop("version"),
        "extends": {
            "anyOf": [extends, {"type": "array", "items": extends}],
            "description": "Presets and files that this one builds on; this file wins.",
        },
        **schema["properties"],
    }
    definitions = schema["$defs"]
    groups = [definitions["Floors"]["properties"][group]["$ref"].rpartition("/")[2] for group in FLOOR_GROUPS]
    definitions["Floors"]["properties"] = _with_reasons(definitions["Floors"]["properties"])
    for record in (definitions[group] for group in groups):
        record["properties"] = {**_with_reasons(record["properties"]), "because": dict(_BECAUSE)}
    for name in ("KeyPlaces", "UserConstants", "Spent"):  # of fields that reading fills in
        definitions.pop(name, None)
    for node in _nodes(schema):
        _tidy(node)
    choice = definitions["ModelChoice"]["anyOf"]
    forms = [*definitions["ModelRef"]["anyOf"], *choice, *choice[-1]["items"]["anyOf"]]
    for part in [schema, *definitions.values(), *forms]:
        _nullable(part)
    definitions["ModelOption"]["properties"]["teacher_training"]["anyOf"].insert(0, {"const": "none"})
    return {
        "$schema": DIALECT,
        "title": "rlopt request (constraints.yaml)",
        "description": "What a post-training job needs, what may be chosen, its limits and its floors.",
        **{key: value for key, value in schema.items() if key not in ("title", "description")},
    }


def _with_reasons(properties: dict[str, Any]) -> dict[str, Any]:
    """Let each floor stand as ``{value, because}`` too."""
    floors = {floor.rpartition(".")[2] for floor in TIGHTNESS} | set(FLOOR_GROUPS)
    found: dict[str, Any] = {}
    for name, written in properties.items():
        schema = _plain(written)
        if name not in floors:
            found[name] = schema
            continue
        text = {key: schema.pop(key) for key in ("description",) if key in schema}
        reasoned = {
            "type": "object",
            "properties": {"value": schema, "because": dict(_BECAUSE)},
            "required": ["value", "because"],
            "additionalProperties": False,
        }
        found[name] = {**text, "anyOf": [schema, reasoned]}
    return found


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Walk all parts of a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in list(schema.values()):
            yield from _nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _nodes(value)


def _tidy(node: dict[str, Any]) -> None:
    """Drop machine-made titles and defaults that are not how people write them."""
    if isinstance(node.get("title"), str):
        del node["title"]
    if "default" in node and not isinstance(node["default"], (str, int, float, bool)):
        del node["default"]
    if isinstance(node.get("description"), str):
        node["description"] = " ".join(node["description"].split())


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Take null out of the options of a schema."""
    options = [option for option in schema.get("anyOf", []) if option != _NULL]
    if not options:
        return schema
    plain = {key: value for key, value in schema.items() if key != "anyOf"}
    plain.update(options[0] if len(options) == 1 else {"anyOf": options})
    return plain


def _nullable(part: dict[str, Any]) -> None:
    """Let null stand for any optional key: it takes a preset's value away. Sections may stand empty."""
    if "required" in part:
        part["required"] = [name for name in part["required"] if name not in _COMPLETED]
    for name, value in part.get("properties", {}).items():
        if name in part.get("required", []):
            continue
        plain = _plain(value)
        text: dict[str, Any] = {key: plain.pop(key) for key in ("description", "default") if key in plain}
        options = plain["anyOf"] if set(plain) == {"anyOf"} else [plain]
        text["anyOf"] = [*options, _NULL]
        part["properties"][name] = text
