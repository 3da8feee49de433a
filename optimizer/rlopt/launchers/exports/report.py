"""What an export wrote, what is to be filled in, and what it could not say: the lines that ``rlopt export`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlopt.language import Name, labelled, tr
from rlopt.launchers.exports.contract import Export, Gap
from rlopt.launchers.exports.notes import smoke_line
from rlopt.launchers.exports.text import one_line


def export_report(made: Export, folder: Path, left: Sequence[str]) -> str:
    """The printed lines, one fact each."""
    lines = [f"{made.launcher} {made.version}: {', '.join(made.files)} in {folder}"]
    asked = [labelled(Name(one.variable), one.what) for one in made.blanks if one.default is None]
    lines += _list("fill in", asked)
    if made.smoke_seconds is not None:
        lines.append(tr(smoke_line(made.smoke_seconds)))
    lines += _list("not expressed", [_told(gap) for gap in made.gaps])
    lines += _list("older files of an export that stay", list(left))
    return "\n".join(one_line(line) if not line.startswith("  ") else "  " + one_line(line) for line in lines) + "\n"


def _told(gap: Gap) -> str:
    """As a file says it, in the language in use."""
    text = labelled(gap.says, gap.do)
    return f"{text} [{tr('memory or time differ from the plan')}]" if gap.shifts else text


def _list(title: str, found: Sequence[str]) -> list[str]:
    return [tr(f"{title}:"), *(f"  {one}" for one in found)] if found else []
