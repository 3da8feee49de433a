"""From a report's shapes to what templates lay out: sections of paragraphs, lists, facts and tables, and links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from rlopt.language import tr
from rlopt.reports.layout import Bullets, Facts, Fitting, Grid, Heading

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Block:
    """One piece of a section; `kind` says which macro of the template lays `content` out."""

    kind: str
    content: Any


@dataclass
class Section:
    """What stands under one title, in the language in use."""

    key: str
    """The English title: what templates and charts know a section by."""
    title: str
    """In the language in use."""
    blocks: list[Block] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The key as a part of an address within the page."""
        return re.sub(r"[^a-z]+", "-", self.key.lower())


def sections(parts: Iterable[RenderableType]) -> list[Section]:
    """Cut a report at its headings; what stands before the first one is the section without a title.

    A part of another kind than the shapes of `rlopt.reports.layout` is left out: it has a form of its own here.
    """
    found = [Section("", "")]
    for part in parts:
        if isinstance(part, Heading):
            found.append(Section(part.title, tr(part.title)))
            continue
        block = _block(part)
        if block is not None:
            found[-1].blocks.append(block)
    return found


def _block(part: RenderableType) -> Block | None:
    if isinstance(part, Fitting):
        return _block(part.wide)
    if isinstance(part, Padding):
        return _block(part.renderable)
    if isinstance(part, Text):
        return Block("text", tr(part.plain)) if part.plain else None
    if isinstance(part, Bullets):
        return Block("list", [tr(text) for text in part.texts])
    if isinstance(part, Facts):
        return Block("facts", named(part.rows))
    if isinstance(part, Grid):
        columns = [(tr(name), name in part.right) for name in part.columns]
        return Block("table", (columns, [[_lines(cell) for cell in row] for row in part.rows]))
    return None


def named(rows: Sequence[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Facts by name; a row without one, or with the same, goes on with the row above."""
    found: list[tuple[str, list[str]]] = []
    before = None
    for name, text in rows:
        if not found or name not in ("", before):
            found.append((tr(name), []))
            before = name
        found[-1][1].append(tr(text))
    return found


def _lines(cell: str) -> list[str]:
    return [tr(line) for line in cell.split("\n")] if "\n" in cell else [tr(cell)]


ADDRESS: Final = re.compile(r"https://[^\s<>\"'()]+[^\s<>\"'().,;:]|\b\d{4}-\d\d(?:-\d\d)?\b")
"""Addresses, and dates that are not to be broken."""

LINK: Final = '<a href="{0}" rel="noopener noreferrer" target="_blank">{0}</a>'
DATE: Final = '<span class="date">{0}</span>'


def linked(text: str) -> Markup:
    """Escape a text, make its https addresses links that tell the other side nothing, and keep dates in one piece."""
    from markupsafe import Markup, escape

    found, at = Markup(""), 0
    for match in ADDRESS.finditer(text):
        found += escape(text[at : match.start()])
        form = LINK if match[0].startswith("https") else DATE
        found += Markup(form).format(match[0])
        at = match.end()
    return found + escape(text[at:])
