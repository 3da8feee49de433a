"""From a file of any size to lines: streamed, without colours, prefixes of workers and progress bars."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from rlopt.errors import InputError
from rlopt.launchers.logs.contract import Line

LONGEST_LINE: Final = 1 << 22
"""Characters; what is longer is no step."""
MOST_BYTES: Final = 1 << 34
CHUNK: Final = 1 << 16
COLOURS: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
WORKER: Final = re.compile(r"^\s*\([\w.:\[\] -]{1,80}pid=\d+(?:,[^)]{0,80})?\)\s?")
REPEATED: Final = re.compile(r"\s*\[repeated \d+x across cluster\].*$")
MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
GZIP: Final = b"\x1f\x8b"


def lines_of(path: Path) -> Iterator[Line]:
    """Lines of a log, plain or gzipped, in UTF-8 or UTF-16; bytes that are neither stand as marks.

    Raises
    ------
    InputError
        When it is no regular file, unreadable or larger than 16 GiB.
    """
    number = 0
    for text, fault in _raw(path):
        number += 1
        if fault:
            yield Line(number, "", fault)
            continue
        for part in text.split("\r"):
            clean = REPEATED.sub("", WORKER.sub("", COLOURS.sub("", part)))
            if clean.strip():
                yield Line(number, clean)


def _raw(path: Path) -> Iterator[tuple[str, str]]:
    """Lines as they stand, with what is wrong with them."""
    held, lost = "", False
    for text in _chunks(path):
        pieces = (held + text).split("\n")
        held = pieces.pop()
        for piece in pieces:
            yield ("", _long()) if lost or len(piece) > LONGEST_LINE else (piece, "")
            lost = False
        if len(held) > LONGEST_LINE:
            held, lost = "", True
    if held or lost:
        yield ("", _long()) if lost else (held, "")


def _long() -> str:
    return f"is longer than {LONGEST_LINE >> 20} Mi characters"


def _chunks(path: Path) -> Iterator[str]:
    name = str(path)
    fix = "check the path"
    try:
        if not path.is_file():  # a pipe or a device may never end
            message = "is a folder" if path.is_dir() else "is no file" if path.exists() else "there is no such file"
            raise InputError.of("", message, file=name, allowed="a launcher's log", fix=fix)
        with path.open("rb") as plain:
            packed = plain.read(2) == GZIP
            plain.seek(0)
            stream = cast("BinaryIO", gzip.GzipFile(fileobj=plain)) if packed else plain
            yield from _decoded(stream, name)
    except (OSError, EOFError, ValueError) as error:  # a broken archive ends in any of them
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.of("", f"cannot be read: {reason}", file=name, allowed="a readable file", fix=fix) from None


def _decoded(stream: BinaryIO, name: str) -> Iterator[str]:
    first = stream.read(CHUNK)
    encoding = next((known for mark, known in MARKS if first.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    seen, chunk = 0, first
    while chunk:
        seen += len(chunk)
        if seen > MOST_BYTES:
            message = f"is larger than {MOST_BYTES >> 30} GiB"
            raise InputError.of("", message, file=name, allowed="the log of one run", fix="cut the log")
        yield decoder.decode(chunk)
        chunk = stream.read(CHUNK)
    yield decoder.decode(b"", final=True)
