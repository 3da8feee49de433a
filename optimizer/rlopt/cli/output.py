"""Results: text or JSON on stdout, and files that are either complete or not there at all."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import RenderableType


def to_json(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """Write a document as JSON text with a final newline.

    Raises
    ------
    ValueError
        When a number is not finite: JSON has no word for it.
    """
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def print_text(text: str) -> None:
    """Print a text that already ends its last line."""
    click.echo(text, nl=False)
    sys.stdout.flush()


def print_report(*parts: RenderableType) -> None:
    """Print a report to the terminal at its width and with its colours (none under NO_COLOR or in a pipe).

    In a pipe or file lines end where their text does.
    """
    from rlopt.reports.layout import terminal, to_text
    from rlopt.reports.wrapping import whole

    console = terminal()
    if not console.is_terminal:
        print_text(to_text(*parts, width=console.width))
        return
    for part in parts:
        console.print(whole(part))
    sys.stdout.flush()


def print_answer(
    document: Mapping[str, Any], output: Path | None, as_json: bool, report: Callable[[], Sequence[RenderableType]]
) -> None:
    """Save an answer where `output` says so, and print it: its JSON and nothing else, or its report."""
    text = to_json(document)
    if output is not None:
        write_file(output, text)
    if as_json:
        print_text(text)
    else:
        print_report(*report())


def write_file(path: Path, text: str) -> None:
    """Write `text` to `path` so that no reader ever sees half of it.

    The text goes to a new file beside the old one, which then takes its name. A device or pipe
    (``/dev/stdout``) has no half-written state and is written directly.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` as `write_file` writes texts: whole or not at all."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(target))
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or those a new file gets in this process."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
