"""A sign of life on stderr while something takes longer than a second; never into a pipe or a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rlopt.language import tr

SILENT_SECONDS: Final = 1.0
"""Work shorter than this shows nothing."""
_REFRESH_SECONDS: Final = 0.5


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show ``what ... 12 s`` on the terminal while the block runs, and wipe it out afterwards."""
    stream = sys.stderr
    if not stream.isatty():
        yield
        return
    what = tr(what)  # the thread that shows it knows no language
    done = threading.Event()
    shower = threading.Thread(target=_show, args=(what, stream, done), daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()


def _show(what: str, stream: TextIO, done: threading.Event) -> None:
    start = time.monotonic()
    pause, width = SILENT_SECONDS, 0
    while not done.wait(pause):
        line = f"{what} ... {time.monotonic() - start:.0f} s"
        width = max(width, len(line) + sum(not mark.isascii() for mark in line))
        stream.write(f"\r{line}")
        stream.flush()
        pause = _REFRESH_SECONDS
    if width:
        stream.write("\r" + " " * width + "\r")
        stream.flush()
