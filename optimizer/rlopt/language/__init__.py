"""The language that reports are read in.

A plan is kept in English, because other tools read it; a report of it may be in another language. What is
printed is therefore translated where it is laid out, one finished text at a time, so that a plan that was
saved yesterday is readable in either language too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LANGUAGES = ("en", "zh")

_current: ContextVar[str] = ContextVar("language", default="en")


def current() -> str:
    """Code of the language in use: one of `LANGUAGES`."""
    return _current.get()


@contextmanager
def use(language: str) -> Iterator[None]:
    """Report in this language while the block runs.

    Raises
    ------
    ValueError
        When the language is none of `LANGUAGES`.
    """
    if language not in LANGUAGES:
        message = f"no reports in {language!r}; there are {', '.join(LANGUAGES)}"
        raise ValueError(message)
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def tr(text: str) -> str:
    """Say a finished English text in the language in use; English is returned as it is."""
    return text
