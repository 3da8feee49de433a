"""From pydantic's findings to complaints: file and line, dotted key, what is allowed, one fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError

from rlopt.errors import Complaint
from rlopt.reading.files.fixes import EXAMPLES, EXAMPLES_BY_NAME
from rlopt.reading.files.keys import all_keys, field_of, known_keys
from rlopt.reading.files.tree import Places, join
from rlopt.request import KeyPlaces
from rlopt.request.values.kinds import show

MOST: Final = 100
"""More complaints than this help nobody."""


_FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {"kv_heads": ("heads",), "head_dim": ("heads", "hidden")}
"""Fields that are completed from others: not missed where those are missing."""


def complaints_of(error: ValidationError, tree: Any, places: Places, file: str) -> list[Complaint]:
    """Turn every finding of a validation into a complaint."""
    source = KeyPlaces(places, file)
    found = list(error.errors(include_url=False))[: MOST * 2]
    unknown = {_typo(finding, tree) for finding in found if finding["type"] == "extra_forbidden"}
    wrong = {_dotted(finding["loc"], tree) for finding in found}
    complaints = []
    for finding in found:
        key = _dotted(finding["loc"], tree)
        if _is_said(finding["type"], key, unknown, wrong):
            continue
        message, allowed, fix = _words(finding, key)
        complaints.append(Complaint(*source.locate(key), key, message, allowed, fix))
    return complaints[:MOST]


def _is_said(kind: str, key: str, unknown: Set[str], wrong: Set[str]) -> bool:
    """Tell whether another complaint is the cause: a misspelt key, a fault in a list, a missing part."""
    parent, _, name = key.rpartition(".")
    if kind == "missing":
        return key in unknown or any(join(parent, other) in wrong for other in _FOLLOWS.get(name, ()))
    return kind == "too_short" and any(other.startswith(f"{key}[") for other in wrong)


def ordered(complaints: Sequence[Complaint], file: str) -> list[Complaint]:
    """Sort complaints by place, drop repeats and what a blank key says already, and cut them at `MOST`."""
    blank = {c.key for c in complaints if c.message == "has no value"}
    kept = [c for c in dict.fromkeys(complaints) if not (c.key in blank and c.message == "is missing")]
    if any(c.key.startswith("extends") for c in kept):  # what is missing may stand in the file that was not read
        kept = [c for c in kept if not c.message.startswith("is missing")]
    kept.sort(key=lambda c: (c.file != file, c.file or "", c.line or 0))
    if len(kept) > MOST:
        rest = len(kept) - MOST
        kept = [
            *kept[:MOST],
            Complaint(file, None, "", f"and {rest} more faults of this kind", "", "mend these first"),
        ]
    return kept


def unknown_key(path: str, known: Sequence[str]) -> tuple[str, str, str]:
    """Word the complaint about a key that does not exist."""
    parent, _, name = path.rpartition(".")
    near = get_close_matches(name[:60], known, 1, 0.6)
    if near:
        fix = f"did you mean {near[0]}?"
    else:
        elsewhere = [key for key in all_keys() if key.rpartition(".")[2] == name and key != path]
        fix = f"it belongs to {min(elsewhere, key=_depth)}" if elsewhere else "delete it"
    place = f"in {parent}" if parent else "at the top of the file"
    return f"unknown key {place}", f"one of {', '.join(known)}" if known else "no keys", fix


def _depth(key: str) -> int:
    """Levels of a dotted key: the shallowest is the likeliest meant."""
    return key.count(".")


def _words(finding: Any, key: str) -> tuple[str, str, str]:
    """Word one finding: message, allowed, fix."""
    kind, value = finding["type"], finding["input"]
    context = finding.get("ctx", {})
    example = EXAMPLES.get(key)
    if kind == "rlopt":
        fix = context["fix"]
        better = example and fix.startswith("write for example")
        return context["text"], context["allowed"], f"write for example {example}" if better else fix
    if kind in ("extra_forbidden", "invalid_key"):
        return unknown_key(key, known_keys(key.rpartition(".")[0]))
    name = key.rpartition(".")[2]
    if kind == "missing":
        info, example = field_of(key), example or EXAMPLES_BY_NAME.get(name)
        fix = f"add {name}: {example}" if example else f"add {name}"
        return "is missing", (info.description or "a value").strip() if info else "a value", fix
    if kind in ("literal_error", "enum"):
        words = [word.strip().strip("'") for word in context["expected"].replace(" or ", ",").split(",")]
        near = get_close_matches(str(value)[:60], words, 1, 0.4)
        return (
            f"{show(value)} is not known here",
            f"one of {', '.join(words)}",
            f"write {near[0]}" if near else f"write one of these, for example {words[0]}",
        )
    if kind in ("tuple_type", "list_type"):
        fix = f"write {example}" if example else f"write [{value}]" if isinstance(value, (str, int)) else "write [...]"
        return f"{show(value)} is not a list", "a list", fix
    if kind == "too_short":
        return (
            "the list is empty: nothing could be chosen",
            "at least one entry",
            "add one, or delete the key for all",
        )
    if kind in ("model_type", "dict_type", "model_attributes_type", "mapping_type"):
        known = known_keys(key)
        allowed = f"a map with {', '.join(known)}" if known else "a map"
        first = f"{{{known[0]}: ...}}" if known else "{...}"
        return f"{show(value)} is not a map", allowed, f"write {example or first}"
    return f"{show(value)}: {finding['msg']}", "see rlopt schema", "correct it"


def _typo(finding: Any, tree: Any) -> str:
    """Give the known key that a misspelt one most likely means."""
    path = _dotted(finding["loc"], tree)
    parent, _, name = path.rpartition(".")
    near = get_close_matches(name[:60], known_keys(parent), 1, 0.6)
    return join(parent, near[0]) if near else ""


def _internal(step: str | int, tree: Any) -> bool:
    """Tell whether a step below a model is not spelt in the file: its form, or the place in a choice of one."""
    if isinstance(step, int):
        return not isinstance(tree, (list, tuple))
    return step in ("inline", "shared", "options", "model") and not (isinstance(tree, Mapping) and step in tree)


def _dotted(loc: Sequence[str | int], tree: Any) -> str:
    """Spell a location as the file spells it: list indices in brackets, no internal steps."""
    path = ""
    for index, step in enumerate(loc):
        if step == "[key]" or (index > 2 and path.startswith("job.models.") and _internal(step, tree)):
            continue
        if isinstance(tree, (list, tuple)) and isinstance(step, int):
            path = f"{path}[{step}]"
            tree = tree[step] if step < len(tree) else None
        else:
            path = join(path, step)
            tree = tree.get(step) if isinstance(tree, Mapping) else None
    return path
