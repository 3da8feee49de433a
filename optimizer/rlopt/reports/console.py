"""The terminal, and the same thing as a string for tests and files."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from rlopt.reports.wrapping import whole


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
