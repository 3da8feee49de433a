from __future__ import annotations

import io
import sys
import time

import pytest

from rlopt.cli import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_outside_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    with progress.working("solving"):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.working("solving"):
        pass
    assert stream.getvalue() == ""


def test_long_work_is_shown_and_wiped_out(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.01)
    with progress.working("solving"):
        while "solving" not in stream.getvalue():
            time.sleep(0.01)
    assert stream.getvalue().startswith("\rsolving ... 0 s")
    assert stream.getvalue().endswith("\r" + " " * len("solving ... 0 s") + "\r")
