"""Keep a solver's banner off standard output, which belongs to the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Point file descriptor 1 to nowhere for the duration.

    Solvers written in C++ print past Python's ``sys.stdout``, so the descriptor itself has to move.
    """
    try:
        sys.stdout.flush()
        saved = os.dup(1)
    except (OSError, ValueError):  # no descriptor 1 (embedded interpreter): nothing to protect
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(sink)
