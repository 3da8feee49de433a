"""Lines of Chinese: broken between characters, but never before a comma or inside a word or number."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod, RenderableType, RenderResult
from rich.containers import Lines
from rich.measure import Measurement
from rich.text import Text

from rlopt.language import current, tr

_UNIT = re.compile(
    r"[（《“‘\[(]*(?:[\u4e00-\u9fff]|[^\s\u2018-\u201d\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]+)"
    r"[，。、；：）》”’！？]*\s*|\S\s*|\s+"
)
"""What stays on one line: a character or a word, the marks that open it and those that close it."""


def said(text: str, style: str = "") -> Text:
    """Say a text in the language in use, wrapped as that language is."""
    return Text(text, style) if current() == "en" else Wrapped(tr(text), style)


@dataclass(frozen=True)
class Alone:
    """A text that a console prints by itself: it would lose its way to wrap, had it not been wrapped before."""

    text: Wrapped

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        yield Text("\n").join(self.text.wrap(console, options.max_width))


def whole(part: RenderableType) -> RenderableType:
    """What a console prints of a part."""
    return Alone(part) if isinstance(part, Wrapped) else part


class Wrapped(Text):
    """A text that Rich wraps by words of its own, which Chinese has not."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Cut into lines of at most `width` characters (as Rich's own method does)."""
        if no_wrap or self.no_wrap:
            return super().wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        lines = Lines()
        for line in self.split(allow_blank=True):
            cut = line.divide(breaks(line.plain, width))
            for part in cut:
                part.rstrip_end(width)
            if justify:
                cut.justify(console, width, justify=justify, overflow=overflow or "fold")
            lines.extend(cut)
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Widths between which it can be laid out (protocol of Rich)."""
        lines = self.plain.splitlines() or [""]
        units = [cell_len(unit[0].rstrip()) for line in lines for unit in _UNIT.finditer(line)]
        return Measurement(max(units, default=0), max(map(cell_len, lines)))


def breaks(text: str, width: int) -> list[int]:
    """Places at which a text is cut so that no line is wider than `width` cells."""
    found: list[int] = []
    used = 0
    for unit in _UNIT.finditer(text):
        size = cell_len(unit[0].rstrip())
        if used and used + size > width:
            found.append(unit.start())
            used = 0
        if size > width:
            at = unit.start()
            pieces = chop_cells(unit[0], width)
            for piece in pieces[:-1]:
                at += len(piece)
                found.append(at)
            used = cell_len(pieces[-1])
        else:
            used += cell_len(unit[0])
    return found
