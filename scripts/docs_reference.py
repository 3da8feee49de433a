"""Reference pages from the code: keys of a request, fields of a plan, presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from rlopt.answers.plan import Plan
from rlopt.api import schema
from scripts.docs_fields import FIELDS, NAMES
from scripts.docs_schema import Pages

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "reference"
BY_HAND = "Written by `scripts/docs.py` {}; do not edit by hand."

_KEYS = f"""# Keys of constraints.yaml

{BY_HAND.format("from the request's own schema")}

A request is one YAML file. Unknown keys are errors that name the nearest known one, numbers with a dimension carry
their unit, and `null` takes a preset's value away. `rlopt check FILE` says what a file leaves at a default and what
that means; `rlopt schema` prints this page as JSON Schema for editors. Keys that depend on others, such as exactly one
of `steps`, `epochs` and `convergence`, are checked together with every complaint at once.

An example: [quickstart.yaml](../../examples/quickstart.yaml). What presets set: [presets](presets.md).
"""

_PLAN = f"""# Fields of a plan

{BY_HAND.format("from the plan's own schema")}

`rlopt solve --json` prints one plan, `-o plan.json` saves it. Money is USD, memory GiB of one GPU, and the unit of
everything else is the last part of its name. Fields are added, never renamed. The bill's lines add up to
`cost.total_usd` to the cent. Without a plan `pools` is empty, `cost` and `time` are null, and `relaxations` says what
opens one.
"""

_PRESETS = f"""# Presets

{BY_HAND.format("from the files in `constraints/`")}

A request takes presets by name: `extends: [grpo]`. Each sets floors, below which no plan goes whatever it saves, with
the evidence beside each number. A file of yours wins over its presets: to tighten a floor is free, to loosen it needs a
reason (`because`), which every report repeats.
"""


def reference_pages() -> dict[Path, str]:
    """Every generated page of the reference."""
    return {
        FOLDER / "constraints.md": keys_page(),
        FOLDER / "plan.md": plan_page(),
        FOLDER / "presets.md": presets_page(),
    }


def keys_page() -> str:
    """Keys of a request by section, from its JSON Schema."""
    whole = schema()
    pages = Pages(whole["$defs"], {"default": "default", "description": "is"})
    top = {"properties": whole["properties"], "required": whole.get("required", [])}
    return "\n".join([_KEYS, *pages.section("The file", top, 2)])


def plan_page() -> str:
    """Fields of a plan by record, from its JSON Schema."""
    whole = Plan.model_json_schema(mode="serialization", by_alias=True)
    pages = Pages(whole["$defs"], {"description": "is"}, {"Plan": "plan"}, FIELDS, NAMES)
    record = whole["$defs"]["Plan"] if "$ref" in whole else whole
    return "\n".join([_PLAN, *pages.section("plan", {**record, "description": ""}, 2)])


def presets_page() -> str:
    """Floors by preset in one table, then every preset's file."""
    paths = sorted((ROOT / "constraints").glob("*.yaml"), key=lambda path: (path.stem != "base", path.stem))
    own = {path.stem: _flat(YAML(typ="safe").load(path.read_text(encoding="utf-8"))) for path in paths}
    keys = sorted({key for values in own.values() for key in values if key.startswith("floors.")})
    head = f"| floor | {' | '.join(own)} |"
    rows = [f"| `{key[7:]}` | {' | '.join(str(values.get(key, '')) for values in own.values())} |" for key in keys]
    table = [
        head,
        "|---" * (len(own) + 1) + "|",
        *(row for row, key in zip(rows, keys, strict=True) if "because" not in key),
    ]
    files = [f"## {path.stem}\n\n```yaml\n{path.read_text(encoding='utf-8').strip()}\n```\n" for path in paths]
    return "\n".join([_PRESETS, "What each file sets itself, beside what it extends:", "", *table, "", *files])


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _flat(inner, f"{path}.{name}" if path else str(name))
    return found
