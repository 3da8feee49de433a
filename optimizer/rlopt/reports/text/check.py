"""What a request says and leaves out, for the terminal: one line a fact, one bullet a default."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from rlopt.reports.layout import INDENT, bullets, paragraph
from rlopt.reports.wrapping import said

_GROUP = re.compile(r"at defaults, ([\w ]+): (?=[a-z_]+\.)")
_NEXT = re.compile(r"; (?=[a-z_]+\.[a-z_.]+: )")


@dataclass(frozen=True)
class Hanging:
    """A fact whose further lines stand to the right of the first, so that each fact is seen to begin."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay it out for the terminal (protocol of Rich)."""
        for number, line in enumerate(said(self.text).wrap(console, max(options.max_width - INDENT, 1))):
            yield Text(" " * INDENT if number else "") + line


def check_report(lines: Sequence[str]) -> list[RenderableType]:
    """Lay the sentences of `rlopt.api.check` out: a group of defaults is a line with one bullet for each key."""
    parts: list[RenderableType] = []
    for line in lines:
        group = _GROUP.match(line)
        if group is None:
            parts.append(Hanging(line))
        else:
            parts += [paragraph(f"at defaults, {group[1]}:"), bullets(_NEXT.split(line[group.end() :]))]
    return parts
