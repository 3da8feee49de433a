"""The few shapes that every report is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

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


def heading(title: str) -> list[RenderableType]:
    """An empty line and the title of a section."""
    return [Text(), Text(title, style="bold cyan")]


def indented(part: RenderableType) -> Padding:
    """The same, moved to the right as a section's body is."""
    return Padding(part, (0, 0, 0, INDENT), expand=False)


def bullets(texts: Iterable[str]) -> RenderableType:
    """A list with one dash per text, wrapped lines hanging."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for text in texts:
        grid.add_row("-", text)
    return indented(grid)


def facts(rows: Iterable[tuple[str, str]]) -> RenderableType:
    """Names on the left, what they are on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(name, text)
    return indented(grid)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> RenderableType:
    """A plain table, no rules; the columns named in `right` hold numbers and end together."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in columns:
        if name in right:
            grid.add_column(name, justify="right", no_wrap=True)
        else:
            grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return indented(grid)
