"""From YAML text to plain values with the line of every key; nothing is constructed, nothing runs.

The parser's events are composed here and not by the library, so that depth, size and aliases are bounded
while reading: a document of nested aliases ("billion laughs") is refused before it is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from rlopt.errors import Complaint, InputError
from rlopt.facts.files.scalars import resolve
from rlopt.request.values.kinds import show

DEEPEST: Final = 40
MOST_NODES: Final = 20_000
BLANK_SECTIONS: Final = ("choices", "limits", "floors", "costs")
"""Sections that may stand empty, with all their lines commented out."""

Places = dict[str, tuple[str, int | None]]


@dataclass(slots=True)
class Tree:
    """Values of a document and where each dotted key stands.

    Parameters
    ----------
    value
        Plain maps, lists and scalars; the keys of maps are text or whole numbers.
    places
        Dotted key to (file, line).
    complaints
        What is wrong but did not stop the reading.
    """

    value: Any = None
    places: Places = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Anchor:
    value: Any
    nodes: int
    depth: int


def join(path: str, key: object) -> str:
    """Append a key to a dotted path."""
    return f"{path}.{key}" if path else str(key)


def parse(text: str, name: str) -> Tree:
    """Parse one YAML document.

    Parameters
    ----------
    text
        The document.
    name
        How complaints call the file.

    Raises
    ------
    InputError
        When the text is no single YAML document within the bounds; smaller faults are in `Tree.complaints`.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    composer = _Composer(name)
    try:
        composer.read(iter(YAML(typ="safe", pure=True).parse(text)))
    except InputError:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if "end of stream" in str(error.problem) and error.context_mark is not None:
            mark = error.context_mark  # what was opened and not closed, not the end of the file
        line = None if mark is None else min(mark.line + 1, text.count("\n") + 1)
        raise InputError([_syntax(text, name, line, str(error.problem or error.context or "not YAML"))]) from None
    except (YAMLError, ValueError, IndexError, OverflowError) as error:
        # the library meets some broken escapes and directives with bare exceptions
        raise InputError([_syntax(text, name, None, " ".join(str(error).split()))]) from None
    return composer.tree


def _syntax(text: str, name: str, line: int | None, problem: str) -> Complaint:
    lines = text.splitlines()
    here = lines[line - 1] if line is not None and line <= len(lines) else ""
    indent = here[: len(here) - len(here.lstrip())]
    before = lines[line - 2] if line is not None and 2 <= line <= len(lines) + 1 else ""
    if "\t" in indent or "\t" in before[: len(before) - len(before.lstrip())]:
        line = line if "\t" in indent or line is None else line - 1
        return Complaint(
            name,
            line,
            "",
            "a tab stands where YAML wants spaces",
            "spaces",
            "indent with two spaces per level",
        )
    fix = "check indentation, brackets, quotes and colons on this line and the one before"
    if "mapping values are not allowed" in problem:
        fix = "put text that contains a colon in quotes, and indent keys evenly"
    return Complaint(name, line, "", f"is not YAML: {problem}", "one YAML document", fix)


class _Composer:
    """Composes parser events into a `Tree`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tree = Tree()
        self.nodes = 0
        self.anchors: dict[str, _Anchor] = {}

    def read(self, events: Iterator[Any]) -> None:
        """Read the whole stream, which must hold one document."""
        documents = 0
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    self.stop(
                        event,
                        "",
                        "a second document begins here",
                        "one document per file",
                        "remove the line --- or split the file",
                    )
            elif kind not in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"):
                self.tree.value, _ = self.node(event, events, "", 0, event.start_mark.line + 1)

    def stop(self, event: Any, path: str, message: str, allowed: str, fix: str) -> None:
        """Give up with one complaint, beside those found so far."""
        fatal = Complaint(self.name, event.start_mark.line + 1, path, message, allowed, fix)
        raise InputError([*self.tree.complaints, fatal])

    def complain(self, line: int, path: str, message: str, allowed: str, fix: str) -> None:
        """Note a fault and read on."""
        self.tree.complaints.append(Complaint(self.name, line, path, message, allowed, fix))

    def count(self, event: Any, path: str, nodes: int, depth: int) -> None:
        """Bound the size and the depth of the document, aliases expanded."""
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            self.stop(
                event,
                path,
                f"the document has more than {MOST_NODES} values, aliases expanded",
                "a request of a few pages",
                "write the values out, without nested aliases",
            )
        if depth > DEEPEST:
            self.stop(
                event,
                path[:80],
                f"is nested more than {DEEPEST} deep",
                f"at most {DEEPEST} levels",
                "remove brackets",
            )

    def node(self, event: Any, events: Iterator[Any], path: str, depth: int, line: int) -> tuple[Any, int]:
        """Compose one node; give its value and the depth below it."""
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self.alias(event, path, depth)
        self.count(event, path, 1, depth)
        before = self.nodes
        if event.tag is not None and str(event.tag) != "!":
            self.complain(
                event.start_mark.line + 1,
                path,
                f"the tag {show(str(event.tag))} is not read",
                "plain values",
                "delete the tag",
            )
        if kind == "ScalarEvent":
            value, below = self.scalar(event, path, line), 0
        elif kind == "SequenceStartEvent":
            value, below = self.sequence(events, path, depth)
        else:
            value, below = self.mapping(events, path, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, self.nodes - before + 1, below)
        return value, below

    def alias(self, event: Any, path: str, depth: int) -> tuple[Any, int]:
        """Stand in the anchored value, counted as if it were written out."""
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            self.stop(
                event,
                path,
                f"the alias *{show(event.anchor)[1:-1]} names no value before it",
                "an alias of a complete value above",
                "write the value out",
            )
            raise AssertionError  # stop always raises
        self.count(event, path, anchor.nodes, depth + anchor.depth)
        return anchor.value, anchor.depth

    def scalar(self, event: Any, path: str, line: int) -> Any:
        """Resolve a scalar; quoted ones are text."""
        if event.style is not None or event.tag is not None:
            return event.value
        if event.value == "" and path:
            if path in BLANK_SECTIONS:
                return {}
            self.complain(line, path, "has no value", "a value, or null for none", "give a value or delete the key")
        return resolve(event.value)

    def sequence(self, events: Iterator[Any], path: str, depth: int) -> tuple[list[Any], int]:
        """Compose a list."""
        items: list[Any] = []
        below = 0
        for event in events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            here, line = f"{path}[{len(items)}]", event.start_mark.line + 1
            self.tree.places[here] = (self.name, line)
            value, deep = self.node(event, events, here, depth + 1, line)
            items.append(value)
            below = max(below, deep + 1)
        return items, below

    def mapping(self, events: Iterator[Any], path: str, depth: int) -> tuple[dict[str | int, Any], int]:
        """Compose a map, complaining about keys that come twice."""
        pairs: dict[str | int, Any] = {}
        below = 0
        for event in events:
            if type(event).__name__ == "MappingEndEvent":
                break
            line = event.start_mark.line + 1
            key = self.key(event, path)
            here = join(path, key)
            twice = key in pairs
            if twice:
                first = self.tree.places[here][1]
                self.complain(
                    line,
                    here,
                    f"is given twice, first on line {first}",
                    "each key once",
                    "delete one of the two",
                )
            else:
                self.tree.places[here] = (self.name, line)
            value, deep = self.node(next(events), events, here, depth + 1, line)
            if not twice:
                pairs[key] = value
            below = max(below, deep + 1)
        return pairs, below

    def key(self, event: Any, path: str) -> str | int:
        """Read a key: text or a whole number."""
        if type(event).__name__ != "ScalarEvent":
            self.stop(
                event,
                path,
                "a key is a list, a map or an alias",
                "keys of plain text",
                "put quotes around the key, or a space after the colon",
            )
        self.count(event, path, 1, 0)
        text = re.sub(r"\s+", " ", event.value)
        value = resolve(text) if event.style is None else text
        return value if type(value) is int else text
