"""A plan that was saved as JSON, read again."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from rlopt.answers.plan import Plan
from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import read_text

SCHEMA = "rlopt.plan/1"


def is_plan(path: Path) -> bool:
    """Whether a file says that it is a plan: JSON is an object, a request in YAML hardly ever begins with a brace."""
    return read_text(path, str(path)).lstrip().startswith("{")


def read_plan(path: Path) -> Plan:
    """Read a plan as ``rlopt solve -o`` writes it.

    Raises
    ------
    InputError
        Where it is no JSON, of another schema, or lacks what a plan has; every complaint at once.
    """
    name = str(path)
    text = read_text(path, name)
    try:
        tree = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise InputError.of("", "is nested too deeply", file=name, allowed="a plan", fix="save it anew") from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        message = f"is no JSON: {getattr(error, 'msg', error)}"
        fix = "save the plan with rlopt solve -o"
        raise InputError.of("", message, file=name, line=line, allowed="a plan", fix=fix) from None
    found = tree.get("schema") if isinstance(tree, dict) else None
    if found != SCHEMA:
        message = f"{found!r} is not the schema of a plan"
        fix = "save the plan with rlopt solve -o"
        raise InputError.of("schema", message, file=name, allowed=SCHEMA, fix=fix)
    try:
        return Plan.model_validate(tree)
    except ValidationError as error:
        raise InputError(
            [
                Complaint(name, None, ".".join(str(step) for step in one["loc"]), one["msg"], "", "save the plan anew")
                for one in error.errors()
            ]
        ) from None


def _no_number(word: str) -> float:
    message = f"{word} is no number"
    raise ValueError(message)
