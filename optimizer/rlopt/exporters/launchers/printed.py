"""What an export wrote, what is to be filled in, and what it could not say: the lines that ``rlopt export`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlopt.exporters.launchers.contract import Export
from rlopt.exporters.launchers.notes import smoke_line
from rlopt.exporters.launchers.words import one_line


def export_report(made: Export, folder: Path, left: Sequence[str]) -> str:
    """The printed lines, one fact each."""
    lines = [f"{made.launcher} {made.version}: {', '.join(made.files)} in {folder}"]
    asked = [f"{one.variable}: {one.what}" for one in made.blanks if one.default is None]
    lines += _list("fill in", asked)
    if made.smoke_seconds is not None:
        lines.append(smoke_line(made.smoke_seconds))
    lines += _list("not expressed", [str(gap) for gap in made.gaps])
    lines += _list("older files of an export that stay", list(left))
    return "\n".join(one_line(line) if not line.startswith("  ") else "  " + one_line(line) for line in lines) + "\n"


def _list(title: str, found: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {one}" for one in found)] if found else []
