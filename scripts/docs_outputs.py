"""What pages show of the program's output, made by running it.

A page holds ``<!-- output: COMMAND -->`` ... ``<!-- /output -->``. Between the two stand the command and what it
prints, both written by `scripts/docs.py`. ``<!-- output: COMMAND ::: A ... B -->`` shows the lines from the first that
starts with A up to the next that starts with B (either may be left out); further pieces follow after another ``:::``.
``<!-- answer: COMMAND -->`` shows what is printed without the command, and ``<!-- quiet: COMMAND -->`` shows nothing.

Commands of one page run one after the other in a folder of their own that holds ``examples``. A fence that stands after
``<!-- file: NAME -->`` is written there as a file first, so a page shows the very file that its commands read.
``<!-- files: PAGE -->`` writes the files that another page of docs/ shows, so that a request stands in one place.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
NO_CATALOGS = str(ROOT / "tests" / "no-user-catalogs")
"""Prices that somebody brought in on this machine stay out of documents, as they do out of tests."""
LEFT_OUT = "[...]"
MARK = "<!-- /output -->"
GOOD_ENDS = (0, 3)
"""Exit codes of an answer: a plan, or the proof that there is none."""
_PRINTED: dict[tuple[str, frozenset[tuple[str, bytes]]], str] = {}
_STEP = re.compile(
    r"<!-- (?P<kind>output|answer): (?P<command>[^\n]+?) -->.*?<!-- /output -->"
    r"|<!-- quiet: (?P<quiet>[^\n]+?) -->"
    r"|<!-- files: (?P<page>[\w./-]+) -->"
    r"|<!-- file: (?P<name>[\w.-]+) -->\n+```\w*\n(?P<text>.*?)```",
    re.DOTALL,
)


def pages() -> list[Path]:
    """Every document that shows output."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path for path in found if MARK in path.read_text(encoding="utf-8"))


def with_outputs(text: str) -> str:
    """The text with every output as the program prints it now."""
    with workplace():

        def step(found: re.Match[str]) -> str:
            if found["name"]:
                _write(found)
                return found[0]
            if found["page"]:
                for file in _STEP.finditer((ROOT / "docs" / found["page"]).read_text(encoding="utf-8")):
                    _write(file)
                return found[0]
            if found["quiet"]:
                run(found["quiet"])
                return found[0]
            command, _, pieces = found["command"].partition(" ::: ")
            printed = _remembered(command)
            shown = excerpt(printed, pieces.split(" ::: ") if pieces else [])
            asked = "" if found["kind"] == "answer" else f"```sh\n{command}\n```\n\n"
            return f"<!-- {found['kind']}: {found['command']} -->\n\n{asked}```text\n{shown}\n```\n\n<!-- /output -->"

        return _STEP.sub(step, text)


def _write(found: re.Match[str]) -> None:
    """Write a file that a page shows into the folder where commands run; no other step writes one here."""
    if found["name"]:
        Path(found["name"]).write_text(found["text"], encoding="utf-8")


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A new folder with the examples, entered; the terminal is plain, English and as wide as documents show it."""
    terminal = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "RLOPT_LANG": "en", "RLOPT_CATALOGS": NO_CATALOGS}
    before, here = {name: os.environ.get(name) for name in terminal}, Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        os.environ.update(terminal)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(here)
            for key, value in before.items():
                os.environ.pop(key, None) if value is None else os.environ.update({key: value})


def run(command: str) -> str:
    """What a command line prints, without spaces at the ends of lines. Raises ValueError where it fails."""
    from rlopt.cli.entry import run as carry_out

    name, *arguments = shlex.split(command)
    if name not in ("rlopt", "./run"):
        message = f"{command}: documents show commands of rlopt alone"
        raise ValueError(message)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = carry_out(arguments)
    if code not in GOOD_ENDS:
        message = f"{command} ends with code {code}: {err.getvalue().strip()}"
        raise ValueError(message)
    return "\n".join(_as_wide(line.rstrip()) for line in out.getvalue().splitlines()).strip("\n")


def _as_wide(line: str) -> str:
    """A line broken where a terminal of the documents' width breaks it; a row of a Markdown table stays whole."""
    if len(line) <= WIDTH or line.startswith("|"):
        return line
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False)


def _remembered(command: str) -> str:
    """`run`, once for each command in folders with the same files; what writes a file runs each time."""
    words = shlex.split(command)
    if any(word == "-o" or word.endswith("-out") for word in words):
        return run(command)
    here = frozenset((path.name, path.read_bytes()) for path in Path().iterdir() if path.is_file())
    if (command, here) not in _PRINTED:
        _PRINTED[command, here] = run(command)
    return _PRINTED[command, here]


def excerpt(printed: str, pieces: list[str]) -> str:
    """The lines that pieces ask for, with a mark where others are left out. Raises ValueError where there are none."""
    lines = printed.splitlines()
    if not pieces:
        return printed
    shown, at = [], 0
    for piece in pieces:
        first, between, last = piece.partition("...")
        start = _place(lines, first.strip(), at) if first.strip() else at
        end = _place(lines, last.strip(), start + 1) if last.strip() else (len(lines) if between else start + 1)
        shown += ([LEFT_OUT] if start > at else []) + lines[start:end]
        while shown and not shown[-1]:
            shown.pop()
        at = end
    return "\n".join([*shown, LEFT_OUT] if at < len(lines) else shown)


def _place(lines: list[str], start: str, after: int) -> int:
    for number in range(after, len(lines)):
        if lines[number].strip().startswith(start):
            return number
    message = f"no line starts with {start!r} after line {after}"
    raise ValueError(message)
