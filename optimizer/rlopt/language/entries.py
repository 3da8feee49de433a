"""The entries of a catalogue: PO files (GNU gettext), and texts that follow from them."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).parent
_SUBJECT = re.compile(r"\{(\w+)(?:![sr])?\}[:：] ?(?=.*[^\W_]{3})")
_GAPS = re.compile(r"\{(\w+)(?:![anrs])?\}")


def entries(language: str) -> dict[str, str]:
    """English texts with what they are in a language, in the order of its files."""
    import polib  # type: ignore[import-untyped]

    found: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.po")):
        found.update({entry.msgid: entry.msgstr for entry in polib.pofile(str(path)) if entry.msgstr})
    return found


def derived(entries: dict[str, str]) -> dict[str, str]:
    """Texts that have no entry of their own, because they are part of one that has."""
    return {**_sentences(entries), **_without_subject(entries)}


def _sentences(entries: dict[str, str]) -> dict[str, str]:
    """The sentences of entries that have several, each by itself."""
    found: dict[str, str] = {}
    for english, other in entries.items():
        parts, said = re.split(r"(?<=\.) (?=\S)", english), re.split(r"(?<=。)(?=.)", other)
        if len(parts) == len(said) > 1:
            found.update(zip(parts, said, strict=True))
    return {
        english: other
        for english, other in found.items()
        if sorted(_GAPS.findall(english)) == sorted(_GAPS.findall(other))
    }


def _without_subject(entries: dict[str, str]) -> dict[str, str]:
    """``{offer}: price unknown`` also without its offer: what is so of several things is said once, before them."""
    found = {}
    for english, other in entries.items():
        subject, said = _SUBJECT.match(english), _SUBJECT.match(other)
        if subject and said and subject[1] == said[1]:
            found[english[subject.end() :]] = other[said.end() :]
    return found
