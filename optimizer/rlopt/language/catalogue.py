"""Texts of another language, looked up by the finished English text.

A finished text was put together from smaller ones: a sentence holds a duration, a list holds names, a
condition adds a clause. So a text is taken apart the same way. It is looked up whole; else every entry with
gaps that fits it is tried, the one with most letters of its own first, and what stands in the gaps is said by
the same rule. The first way that leaves no English word wins, else the one that leaves fewest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from rlopt.language.template import Template, joined, template

_FOLDER = Path(__file__).parent
_WORD = re.compile(r"[A-Za-z]+")
_PLAIN = re.compile(r"(?<![\w./_\-])[A-Za-z]?[a-z]+(?![\w./_\-]*[\w/_])")
"""A word of prose: no digit, dot, slash, dash or capital inside that would make it a name."""
_AMOUNT = re.compile(r"([-+$<~]?[\d.,]+%?(?: (?:h|min|s|[kMGT]?i?B|USD))?) (?=[A-Za-z])")
_AT_END = re.compile(r"(?<=\w) ([-+$<~]?[\d.,]+%?(?: (?:h|min|s|[kMGT]?i?B|USD))?)\Z")
_SUBJECT = re.compile(r"\{(\w+)(?:![sr])?\}[:：] ?(?=.*[^\W_]{3})")
_UNITS = frozenset({"h", "min", "s", "ms", "d", "x"})
_MOST_KEPT = 20_000
_MOST_TRIED = 2_000
"""Parts of one text that are looked at; beyond that it stays as far as it got."""
_LEAST_LETTERS = 6
"""An entry with fewer letters of its own is used only where nothing stays in English."""


class Catalogue:
    """Everything that can be said in one language.

    Parameters
    ----------
    entries
        English text to the other language's, both with gaps ``{name}``; ``{name!s}`` in the latter keeps
        what stands there as it is.
    """

    def __init__(self, entries: dict[str, str]) -> None:
        self._exact: dict[str, str] = {}
        self._by_word: dict[str, list[Template]] = defaultdict(list)
        for english, other in {**_without_subject(entries), **entries}.items():
            read = template(english, other)
            if not read.gaps:
                self._exact[english] = other
            else:
                self._by_word[read.key()].append(read)
        self._kept: dict[str, tuple[str, int]] = {}
        self._said: set[str] = set()
        self._tried = 0

    def say(self, text: str) -> str:
        """Say a finished text, line by line; what is not known stays in English, and what was said stays said."""
        if text in self._said:
            return text
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
            self._said.clear()
        self._tried = 0
        said = "\n".join(self._say(line)[0] for line in text.split("\n"))
        self._said.add(said)
        return said

    def unsaid(self, text: str) -> int:
        """How many English words are left of a text."""
        return sum(self._say(line)[1] for line in text.split("\n"))

    def _say(self, text: str) -> tuple[str, int]:
        bare = text.strip(" ")
        if bare != text:
            start = text[: len(text) - len(text.lstrip(" "))]
            end = text[len(text.rstrip(" ")) :]
            said, left = self._say(bare)
            return f"{start}{said}{end}", left
        found = self._kept.get(text)
        if found is None:
            self._kept[text] = (text, _plain_words(text))  # what is being said, should it hold itself
            found = self._kept[text] = self._find(text)
        return found

    def _find(self, text: str) -> tuple[str, int]:
        if not _WORD.search(text):
            return text, 0
        exact = self._exact.get(text)
        if exact is not None:
            return exact, 0
        lower = text[0].lower() + text[1:]
        exact = self._exact.get(lower)
        if exact is not None:
            return exact, 0
        best = (text, _plain_words(text))
        self._tried += 1
        if (not best[1] and " " not in text) or self._tried > _MOST_TRIED:
            return best
        for way in self._fitting(text):
            for contents in way.matches(text):
                said = self._filled(way, contents, text)
                if said is None or (said[1] and way.letters < _LEAST_LETTERS and not way.ends):
                    continue
                if said[1] < best[1] or (not said[1] and said[0] != text):
                    best = said
                if not best[1] and best[0] != text:
                    return best
        return self._amount(text, best)

    def _fitting(self, text: str) -> list[Template]:
        words = {*_WORD.findall(text), ""}
        ways = [way for word in words for way in self._by_word.get(word, ()) if way.longest in text]
        if len(ways) > 1:
            ways.sort(key=_rank)
        return ways

    def _filled(self, way: Template, contents: tuple[str, ...], text: str) -> tuple[str, int] | None:
        left = 0
        said = {}
        for name, content in zip(way.gaps, contents, strict=True):
            if content == text:
                return None
            if name in way.names or name in way.quotes:
                said[name] = content
            else:
                said[name], more = self._say(content)
                left += more
        return way.fill(said), left

    def _amount(self, text: str, best: tuple[str, int]) -> tuple[str, int]:
        """``3 samples``, ``weights 14.2``: a number, and what there are so many of."""
        for number in (_AMOUNT.match(text), _AT_END.search(text)):
            if number is None or not best[1]:
                continue
            said, left = self._say(text[: number.start()] or text[number.end() :])
            parts = [said, f" {number[1]}"] if number.start() else [f"{number[1]} ", said]
            if left < best[1]:
                best = joined(parts), left
        return best


def _without_subject(entries: dict[str, str]) -> dict[str, str]:
    """``{offer}: price unknown`` also without its offer: what is so of several things is said once, before them."""
    found = {}
    for english, other in entries.items():
        subject, said = _SUBJECT.match(english), _SUBJECT.match(other)
        if subject and said and subject[1] == said[1]:
            found[english[subject.end() :]] = other[said.end() :]
    return found


def _rank(way: Template) -> tuple[int, ...]:
    return way.rank


def _plain_words(text: str) -> int:
    return sum(word not in _UNITS for word in _PLAIN.findall(text))


@cache
def catalogue(language: str) -> Catalogue:
    """Read the catalogue of a language: the PO files (GNU gettext) of its folder."""
    return Catalogue(entries(language))


def entries(language: str) -> dict[str, str]:
    """English texts with what they are in a language, in the order of its files."""
    import polib  # type: ignore[import-untyped]

    found: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.po")):
        found.update({entry.msgid: entry.msgstr for entry in polib.pofile(str(path)) if entry.msgstr})
    return found
