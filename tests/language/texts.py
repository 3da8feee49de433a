"""Every text in the source that may reach a reader, as a template with its gaps left open.

A string or f-string counts as a text when it holds a space between words and is no docstring, key, pattern,
option or annotation; in the rooms that lay reports out, a single word counts too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PART = re.compile(r"\"[^\"]*\"|\w+")
_SAID = re.compile(r"\btr\(((?:\"[^\"]*\"|\w+)(?: ~ (?:\"[^\"]*\"|\w+))*)\)")
WORD = re.compile(r"[a-z]{2,}|[A-Z][a-z]+")
CODE = re.compile(r"[\[{].*: .*[\]}]\Z|\[.*\]\Z|  \w+: |--[a-z-]+\Z|algorithm: \S+\Z|\d+ (Hz|Gbps|GiB|KiB)\Z")
"""A line of a request, or an option."""
SINGLE = re.compile(r"[A-Za-z][a-z]+(-[a-z]+)*\Z")
QUIET_CALLS = frozenset(
    re.findall(
        r"\w+",
        """get removeprefix removesuffix partition rpartition split rsplit startswith endswith replace strip compile
        match fullmatch search sub open getattr hasattr setattr import_module find index findall TypeVar read_text
        write_text encode decode Version attrgetter itemgetter strftime strptime namedtuple""",
    )
)
"""Calls whose texts a reader never sees; ``replace`` and the like take parts of texts that stand elsewhere."""
QUIET_FUNCTIONS = frozenset({"_checks"})
"""Functions whose texts stand in files alone: what to check before an exported job is started."""
SPOKEN_CALLS = frozenset({"tr", "said", "heading", "paragraph", "labelled"})
"""Calls whose text a reader sees, be it one word."""
QUIET_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """style justify encoding overflow newline header_style metavar help short_help name mode errors delimiter
        field_name ascii envvar prefix suffix dtype kind default_factory alias pattern message_format unit""",
    )
)


@dataclass(frozen=True, order=True)
class Said:
    """A text: where it stands, and what it is with ``{name}`` for each gap."""

    file: str
    line: int
    text: str


def shape(text: str) -> str:
    """Return the text with every gap unnamed, by which source and catalogue are compared."""
    return re.sub(r"\{\w*\}", "{}", text)


def texts_of(path: Path, root: Path, single_words: bool) -> list[Said]:
    """Return the texts of one module in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(root).as_posix()
    found = []
    spoken = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SPOKEN_CALLS
        for argument in node.args[:1]
    }
    for node in _texts(tree):
        text = _template(node) if isinstance(node, ast.JoinedStr) else str(node.value)
        for part in text.split("\n"):
            bare = part.strip(" ")
            if _is_text(bare, single_words or id(node) in spoken):
                found.append(Said(name, node.lineno, part if part.startswith((" ", ",", ";")) else part.lstrip(" ")))
    return found


def _is_text(text: str, single_words: bool) -> bool:
    literal = re.sub(r"\{\w*\}", " ", text)
    if CODE.match(re.sub(r"\{\w*\}", "0", text)):
        return False
    if not WORD.search(literal):
        return False
    if " " in text:
        return True
    return single_words and bool(SINGLE.match(text))


def _texts(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node
        return
    if isinstance(node, ast.JoinedStr):
        yield node
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value)
        return
    for child in _heard(node):
        yield from _texts(child)


def _heard(node: ast.AST) -> Iterator[ast.AST]:
    """Children of a node whose texts may reach a reader."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring, of whatever
    if isinstance(node, ast.Compare | ast.Import | ast.ImportFrom | ast.MatchValue):
        return
    if isinstance(node, ast.Subscript):
        yield node.value
        if isinstance(node.slice, ast.JoinedStr):
            yield node.slice
    elif isinstance(node, ast.Dict):
        yield from node.values
        yield from (key for key in node.keys if isinstance(key, ast.JoinedStr))
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.value
    elif isinstance(node, ast.FunctionDef) and node.name in QUIET_FUNCTIONS:
        return
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.args.defaults
        yield from node.body
    elif isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in QUIET_CALLS:
            yield node.func
            return
        yield node.func
        yield from node.args
        yield from (keyword.value for keyword in node.keywords if keyword.arg not in QUIET_KEYWORDS)
    else:
        yield from ast.iter_child_nodes(node)


def _template(node: ast.JoinedStr) -> str:
    names: list[str] = []
    text = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            name = _name(part.value)
            while name in names:
                name += "_"
            names.append(name)
            text += f"{{{name}}}"
        else:
            text += str(part.value) if isinstance(part, ast.Constant) else ""
    return text


def _name(node: ast.AST) -> str:
    """Name of what fills a gap: the last word of the expression that says most."""
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Call):
        if node.args and isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            return _name(node.args[0])
        return _name(node.func)
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return re.sub(r"\W", "_", node.slice.value)
        return _name(node.value)
    if isinstance(node, ast.BinOp):
        return _name(node.left)
    if isinstance(node, ast.BoolOp):
        return _name(node.values[0])
    if isinstance(node, ast.IfExp):
        return _name(node.body) if not isinstance(node.body, ast.Constant) else "part"
    return "value"


def texts_of_page(path: Path, root: Path) -> list[Said]:
    """Return what a page's template says itself: ``tr("...")``, parts joined by ``~``."""
    name = path.relative_to(root).as_posix()
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        for call in _SAID.finditer(line):
            text = "".join(part[1:-1] if part[0] == '"' else f"{{{part}}}" for part in _PART.findall(call[1]))
            if _is_text(text, single_words=True):
                found.append(Said(name, number, text))
    return found
