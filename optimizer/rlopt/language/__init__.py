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


class Name(str):
    """A text that is the same in every language: what somebody named, or wrote, or a program reads."""

    __slots__ = ()


def current() -> str:
    """Code of the language in use: one of `LANGUAGES`."""
    return _current.get()


def choose(language: str) -> None:
    """Report in this language from now on, until the end of the `use` around it.

    Raises
    ------
    ValueError
        When the language is none of `LANGUAGES`.
    """
    if language not in LANGUAGES:
        message = f"no reports in {language!r}; there are {', '.join(LANGUAGES)}"
        raise ValueError(message)
    _current.set(language)


@contextmanager
def use(language: str) -> Iterator[None]:
    """Report in this language while the block runs.

    Raises
    ------
    ValueError
        When the language is none of `LANGUAGES`.
    """
    before = _current.get()
    choose(language)
    try:
        yield
    finally:
        _current.set(before)


def labelled(name: str, text: str) -> str:
    """``name: text`` in the language in use; in Chinese the colon needs no space."""
    return f"{tr(name)}: {tr(text)}" if _current.get() == "en" else f"{tr(name)}：{tr(text)}"


def tr(text: str) -> str:
    """Say a finished English text in the language in use; English and a `Name` are returned as they are."""
    language = _current.get()
    if language == "en" or not text or isinstance(text, Name):
        return text
    from rlopt.language.catalogue import catalogue

    return catalogue(language).say(text)
