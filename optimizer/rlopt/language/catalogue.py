"""Texts of another language, looked up by the finished English text.

A finished text was put together from smaller ones: a sentence holds a duration, a list holds names, a
condition adds a clause. So a text is taken apart the same way. It is looked up whole; else every entry with
gaps that fits it is tried, the one with most letters of its own first, and what stands in the gaps is said by
the same rule. The first way that leaves no English word wins, else the one that leaves fewest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial

from rlopt.language.entries import derived, entries
from rlopt.language.template import Template, is_whole, joined, key, template

_WORD = re.compile(r"[A-Za-z]+")
_PLAIN = re.compile(r"/month\b| x (?=[\d(])|(?<![\w./_\-])[A-Za-z]?[a-z]+(?![\w./_\-]*[\w/_])")
"""A word of prose: no digit, dot, slash, dash or capital inside that would make it a name."""
_AMOUNT = re.compile(r"([-+$<~]?[\d.,]+%?(?: (?:h|min|s|[kMGT]?i?B|USD))?) (?=[A-Za-z])")
_AT_END = re.compile(r"(?<=\w) ([-+$<~]?[\d.,]+%?(?: (?:h|min|s|[kMGT]?i?B|USD))?)\Z")
_UNITS = frozenset({"h", "min", "s", "ms", "d", "x", "Gbps", "Gb", "Hz"})
_SENTENCES = re.compile(r"(?<=[\w%)]\.) (?=[\w$])")
_UNSAID = 1000
"""What an English word that is left counts for; one inside a name, which may be right, counts for one."""
_SEPARATORS = ("; ", " + ")
_STOPS = ("; ", ".")
"""Entries that end a clause or a sentence."""
_LIST = 2
"""Separators from which on a text is a list, which is cut before entries are tried on the whole."""
_MOST_KEPT = 20_000
_MOST_TRIED = 2_000
"""Parts of one text that are looked at; beyond that it stays as far as it got."""
_DEEPEST = 60
"""Texts within texts."""
_LONGEST = 8_000
"""Characters of a line from which on it is no sentence of a report: it stays."""
_MOST_HELD = 3
"""Clauses that one entry holds at most."""
_MANY_LETTERS = 16
"""An entry with as many letters of its own is tried before a text is cut at its separators."""
_LEAST_LETTERS = 5
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
        self._unread: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._by_word: dict[str, list[Template]] = {}
        for english, other in {**derived(entries), **entries}.items():
            if english in _STOPS or is_whole(english):
                self._exact[english] = other
            else:
                self._unread[key(english)].append((english, other))
        self._names = {english for english, other in self._exact.items() if english == other}
        self._kept: dict[str, tuple[str, int]] = {}
        self._said: set[str] = set()
        self._tried = 0
        self._depth = 0

    def say(self, text: str) -> str:
        """Say a finished text, line by line; what is not known stays in English, and what was said stays said."""
        if text in self._said:
            return text
        if len(self._kept) > _MOST_KEPT:
            self._kept.clear()
            self._said.clear()
        said = "\n".join(map(self._line, text.split("\n")))
        self._said.add(said)
        return said

    def unsaid(self, text: str) -> int:
        """How many English words are left of a text."""
        left = 0
        for line in text.split("\n"):
            self._tried = 0
            left += self._say(line.strip())[1] // _UNSAID
        return left

    def _line(self, line: str) -> str:
        bare = line.strip()
        self._tried = 0
        return line.replace(bare, self._say(bare)[0], 1) if bare else line

    def _say(self, text: str) -> tuple[str, int]:
        bare = text.strip(" ")
        if bare != text:
            start = text[: len(text) - len(text.lstrip(" "))]
            end = text[len(text.rstrip(" ")) :]
            whole = self._find(text) if start else (text, 1)
            if not whole[1] and whole[0] != text:
                return whole  # a text that begins with a space goes on with the one before it
            said, left = self._say(bare)
            return f"{start}{said}{end}", left
        found = self._kept.get(text)
        if found is None:
            self._kept[text] = (text, self._words(text) * _UNSAID)  # what is being said, should it hold itself
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
        best = (text, self._words(text) * _UNSAID)
        self._tried += 1
        if self._tried > _MOST_TRIED or self._depth > _DEEPEST or len(text) > _LONGEST:
            return best
        self._depth += 1
        try:
            return self._taken_apart(text, best)
        finally:
            self._depth -= 1

    def _taken_apart(self, text: str, best: tuple[str, int]) -> tuple[str, int]:
        if _SENTENCES.search(text):
            best = _better(text, best, self._sequence(text, " ", best))
        elif text.endswith(".") and not text.endswith(".."):
            said, left = self._say(text[:-1])
            if not left:
                return f"{said}{self._exact.get('.', '.')}", 0
        ways = self._fitting(text)
        long = [way for way in ways if way.clause or way.has_separator or way.letters >= _MANY_LETTERS]
        separator = next((mark for mark in _SEPARATORS if mark in text), None)
        is_list = separator == _SEPARATORS[0] and text.count(separator) >= _LIST
        steps: list[Callable[[], tuple[str, int]]] = [partial(self._first, text, long, best)]
        if separator is not None:
            steps.insert(0 if is_list else 1, partial(self._sequence, text, separator, best))
        steps.append(partial(self._first, text, [way for way in ways if way not in long], best))
        for step in steps:
            if not best[1] and best[0] != text:
                return best
            best = _better(text, best, step())
        return self._amount(text, best)

    def _words(self, text: str) -> int:
        """English words of prose in a text, those aside that are names in any language."""
        return sum(word not in _UNITS and word not in self._names for word in _PLAIN.findall(text))

    def _first(self, text: str, ways: list[Template], best: tuple[str, int]) -> tuple[str, int]:
        """The first way that leaves no English word, else the one that leaves fewest, if it beats the best so far."""
        for way in ways:
            for contents in way.matches(text):
                if not best[1] and best[0] != text:
                    return best
                said = self._filled(way, contents, text)
                if said is None or (said[1] >= _UNSAID and way.letters < _LEAST_LETTERS):
                    continue
                best = _better(text, best, said)
        return best

    def _sequence(self, text: str, separator: str, whole: tuple[str, int]) -> tuple[str, int]:
        """Sentences or clauses one after another, of which some hold separators of their own.

        Each but the first goes on with the one before if there is an entry that begins with the separator, else it
        stands for itself.
        """
        parts = _SENTENCES.split(text) if separator == " " else text.split(separator)
        if len(parts) == 1 or not all(parts):
            return whole
        best: list[tuple[str, int]] = [("", 0)]  # from each part to the end, the last first
        for start in range(len(parts) - 1, -1, -1):
            found: tuple[str, int] | None = None
            for end in range(start + 1, min(start + _MOST_HELD, len(parts)) + 1):
                if end - start == len(parts):
                    break
                said, left = self._clause(separator.join(parts[start:end]), separator if start else "")
                rest = best[len(parts) - end]
                if found is None or left + rest[1] < found[1]:
                    found = joined([said, rest[0]]), left + rest[1]
                if not found[1]:
                    break
            best.append(found or ("", 0))
        return best[-1]

    def _clause(self, text: str, separator: str) -> tuple[str, int]:
        after = separator + text
        for way in self._fitting(after) if separator else ():
            for contents in way.matches(after) if way.goes_on else ():
                said = None if contents[0] else self._filled(way, contents, text)
                if said is not None and said[1] < _UNSAID:
                    return said
        said = self._say(text)
        return joined([self._exact.get(separator, separator), said[0]]), said[1]

    def _fitting(self, text: str) -> list[Template]:
        words = {*_WORD.findall(text), ""}
        ways = [way for word in words for way in self._ways(word) if way.longest in text]
        if len(ways) > 1:
            ways.sort(key=_rank)
        return ways

    def _ways(self, word: str) -> list[Template]:
        """Entries that are looked up by a word, read the first time that it is met."""
        unread = self._unread.pop(word, None)
        if unread is not None:
            self._by_word[word] = [template(english, other) for english, other in unread]
        return self._by_word.get(word, [])

    def _filled(self, way: Template, contents: tuple[str, ...], text: str) -> tuple[str, int] | None:
        left = 0
        said = {}
        for name, content in zip(way.gaps, contents, strict=True):
            if content == text:
                return None
            if name in way.numbers or name in way.code:
                said[name] = content
            elif name in way.kept:
                said[name] = content
                words = 0 if content in self._exact else self._words(content)
                left += words if way.letters >= _LEAST_LETTERS else words * _UNSAID
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


def _better(text: str, one: tuple[str, int], other: tuple[str, int]) -> tuple[str, int]:
    """The one that leaves fewer English words; where none are left, one that says anything at all."""
    if other[1] < one[1] or (not other[1] and one[0] == text):
        return other
    return one


def _rank(way: Template) -> tuple[int, ...]:
    return way.rank


@cache
def catalogue(language: str) -> Catalogue:
    """Read the catalogue of a language: the PO files (GNU gettext) of its folder."""
    return Catalogue(entries(language))
