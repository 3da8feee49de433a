"""The few shapes that every report is made of.

A shape keeps its English texts and lays them out for the terminal; other forms of a report read the texts.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rlopt.language import tr
from rlopt.reports.wrapping import said, whole

INDENT = 2
TABLE_WIDTH = 80
"""Characters below which a table with long names is harder to read than a list."""


@dataclass(frozen=True)
class Fitting:
    """One of two forms of the same content: `wide` from `least_width` characters on, else `narrow`."""

    wide: RenderableType
    narrow: RenderableType
    least_width: int = TABLE_WIDTH

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose by the width there is (protocol of Rich)."""
        yield self.wide if options.max_width >= self.least_width else self.narrow


@dataclass(frozen=True)
class Heading:
    """The title of a section, an empty line above it."""

    title: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        yield Text()
        yield said(self.title, "bold cyan")


@dataclass(frozen=True)
class Bullets:
    """A list with one dash per text, wrapped lines hanging."""

    texts: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for text in self.texts:
            grid.add_row("-", said(text))
        yield indented(grid)


@dataclass(frozen=True)
class Facts:
    """Names on the left, what they are on the right; a row without a name goes on with the one above."""

    rows: tuple[tuple[str, str], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, text in self.rows:
            grid.add_row(tr(name), said(text))
        yield indented(grid)


@dataclass(frozen=True)
class Grid:
    """A plain table, no rules; columns in `right` hold numbers and end together, those in `whole` are never broken."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in self.columns:
            if name in self.right:
                grid.add_column(tr(name), justify="right", no_wrap=True)
            else:
                grid.add_column(tr(name), overflow="fold", no_wrap=name in self.whole)
        for row in self.rows:
            grid.add_row(*(said(cell) for cell in row))
        yield indented(grid)


def heading(title: str) -> list[RenderableType]:
    """An empty line and the title of a section."""
    return [Heading(title)]


def paragraph(text: str, style: str = "") -> Text:
    """Whole sentences, wrapped at the width there is."""
    return said(text, style)


def indented(part: RenderableType) -> Padding:
    """The same, moved to the right as a section's body is."""
    return Padding(part, (0, 0, 0, INDENT), expand=False)


def bullets(texts: Iterable[str]) -> Bullets:
    """A list with one dash per text."""
    return Bullets(tuple(texts))


def facts(rows: Iterable[tuple[str, str]]) -> Facts:
    """Names on the left, what they are on the right."""
    return Facts(tuple(rows))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = (), whole: Sequence[str] = ()
) -> Grid:
    """A plain table; columns named in `right` hold numbers and end together, those in `whole` are never broken."""
    return Grid(tuple(columns), tuple(tuple(row) for row in rows), tuple(right), tuple(whole))


def terminal() -> Console:
    """Console on stdout: as wide as the terminal, colours only where one is and NO_COLOR is not set.

    Markup and emoji codes are off, because reports carry texts of other people that may hold brackets
    and colons.
    """
    return Console(markup=False, emoji=False, highlight=False)


def to_text(*parts: RenderableType, width: int = 100) -> str:
    """Render as plain text `width` characters wide, without colours, lines stripped on the right."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
        force_terminal=False,
        color_system=None,
    )
    for part in parts:
        console.print(whole(part))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())
