"""One entry of a catalogue: an English text with gaps, and the same in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_GAP = re.compile(r"\{(\w*)(?:!([anrs]))?\}")
_ADJACENT = re.compile(r"\{(\w+)\}(?:\{\w+\})+")
_NUMBER = re.compile(r"[-+<~]?\$?[\d.,]+(?:e[-+]?\d+)?[%kMGT]?\Z")
_CODE = re.compile(r"[\w.\-/]+\Z|\d\S* ?\w+\Z|.*[:\[{=<_]")
"""What a key, a value or a line of a request is recognised by."""
_PROSE = re.compile(r"[,;:.+] | \(| and |(?<![\w./\-])[a-z]+ (?:[\w.\-/]+ )*[a-z]+(?![\w./\-])")
"""What a name does not hold."""
_OPENS = " ,;:.)"
"""What a text begins with that continues another one."""
_CLOSES = " ,;:"
"""What a text ends with that another one continues."""
_WORD = re.compile(r"[A-Za-z]+")
_FREE_WORD = re.compile(r"(?<![A-Za-z\0])[A-Za-z]+(?![A-Za-z\0])")
_HEAD, _TAIL = "_head", "_tail"
NUMBER = "n"
"""Name of a gap that holds a number and nothing else."""
_MOST_SPLITS = 12
"""Ways to fill the gaps of an entry that are tried."""
_MOST_LOOKS = 300
"""Places that are looked at for them."""
_WIDE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
_OPERATORS = "+=×→−"
_LETTER = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Template:
    """A text whose gaps hold other texts.

    Parameters
    ----------
    literals
        What stands before, between and behind the gaps of the English text; one more than `gaps`.
    gaps
        Names of the gaps in the order of the English text.
    said
        The text in the other language: literals and names of gaps by turns, a literal first.
    numbers
        Gaps that hold a number and nothing else.
    names
        Gaps that hold a name: it stays as it is.
    code
        Gaps that hold what stands in a file as it is: a key, a value, a line.
    quotes
        Gaps that hold what somebody wrote, however long: it stays as it is.
    """

    literals: tuple[str, ...]
    gaps: tuple[str, ...]
    said: tuple[str, ...]
    numbers: frozenset[str]
    names: frozenset[str]
    code: frozenset[str]
    quotes: frozenset[str]
    rank: tuple[int, ...] = field(init=False)
    """Order in which entries are tried: those that go on with another text first, then by letters of their own."""
    kept: frozenset[str] = field(init=False)
    """Gaps whose content stays as it is."""
    goes_on: bool = field(init=False)
    """Whether it goes on with another text."""
    clause: bool = field(init=False)
    """Whether it is a clause of its own that does so."""
    has_separator: bool = field(init=False)
    """Whether it holds what separates clauses or terms elsewhere."""
    longest: str = field(init=False)
    letters: int = field(init=False)

    def __post_init__(self) -> None:
        letters = sum(len(word) for part in self.literals for word in _WORD.findall(part))
        clause = self.gaps[:1] == (_HEAD,) and self.literals[1][0] in ",;.("
        object.__setattr__(self, "clause", clause)
        has_separator = any(mark in part for part in self.literals for mark in ("; ", " + "))
        object.__setattr__(self, "has_separator", has_separator)
        numbers = NUMBER in self.gaps
        size = sum(map(len, self.literals))
        object.__setattr__(self, "kept", self.names | self.code | self.quotes)
        object.__setattr__(self, "goes_on", self.gaps[:1] == (_HEAD,))
        object.__setattr__(self, "longest", max(self.literals, key=len))
        object.__setattr__(self, "letters", letters)
        object.__setattr__(self, "rank", (not clause, -letters, -numbers, -size, len(self.gaps)))

    def matches(self, text: str) -> Iterator[tuple[str, ...]]:
        """Contents of the gaps that make the English text `text`, the first gaps as short as can be."""
        first, last = self.literals[0], self.literals[-1]
        if not self.gaps:
            if text == first:
                yield ()
            return
        end = len(text) - len(last)
        if len(first) > end or not text.startswith(first) or not text.endswith(last):
            return
        looks = [_MOST_LOOKS]
        for number, found in enumerate(self._split(text, len(first), end, 1, looks), start=1):
            yield found
            if number == _MOST_SPLITS:
                return

    def _split(self, text: str, start: int, end: int, place: int, looks: list[int]) -> Iterator[tuple[str, ...]]:
        if place == len(self.literals) - 1:
            if self._holds(place - 1, text[start:end]):
                yield (text[start:end],)
            return
        literal = self.literals[place]
        at = text.find(literal, start, end)
        while at >= 0 and looks[0]:
            looks[0] -= 1
            if self._holds(place - 1, text[start:at]):
                for rest in self._split(text, at + len(literal), end, place + 1, looks):
                    yield (text[start:at], *rest)
            at = text.find(literal, at + 1, end)

    def _holds(self, gap: int, content: str) -> bool:
        """Whether a gap may hold this."""
        name = self.gaps[gap]
        if content.count("(") != content.count(")"):
            return False
        if name == NUMBER or name in self.numbers:
            return _NUMBER.match(content) is not None
        if name in self.code and not _CODE.match(content):
            return False
        return name not in self.names or not _PROSE.search(content)

    def fill(self, contents: dict[str, str]) -> str:
        """Put contents into the gaps of the other language's text."""
        return joined([contents[part] if place % 2 else part for place, part in enumerate(self.said)])


def is_whole(english: str) -> bool:
    """Whether an entry is a text as it is: without gaps, going on with no other text."""
    return not (_GAP.search(english) or english[:1] in _OPENS or english[-1:] in _CLOSES)


def key(english: str) -> str:
    """Longest word of an entry that no gap touches, by which it is looked up; empty without one."""
    return max(_FREE_WORD.findall(_GAP.sub("\0", english)), key=len, default="")


def template(english: str, other: str) -> Template:
    """Read an entry; a text that begins or ends with a separator continues, or is continued by, any text.

    Raises
    ------
    ValueError
        When the two texts do not have the same gaps.
    """
    if english[:1] and english[0] in _OPENS:
        english, other = f"{{{_HEAD}}}{english}", other if f"{{{_HEAD}}}" in other else f"{{{_HEAD}}}{other}"
    if english[-1:] and english[-1] in _CLOSES:
        english, other = f"{english}{{{_TAIL}}}", other if f"{{{_TAIL}}}" in other else f"{other}{{{_TAIL}}}"
    for run in _ADJACENT.finditer(english):  # nothing says where one ends: together they are one
        touching = r"(?:![anrs])?\}".join(re.escape(gap) for gap in run[0].split("}")[1:])
        one = re.compile(rf"(\{{{run[1]}(?:![anrs])?\}}){touching}")
        english, other = english.replace(run[0], f"{{{run[1]}}}"), one.sub(r"\1", other)
    parts, said = _GAP.split(english), _GAP.split(other)
    gaps = tuple(parts[1::3])
    marked = dict(zip(said[1::3], said[2::3], strict=True))
    kept = (frozenset(name for name, mark in marked.items() if mark == of) for of in "nsar")
    if len(set(gaps)) < len(gaps) or set(gaps) != set(said[1::3]):
        message = f"gaps differ: {english!r} and {other!r}"
        raise ValueError(message)
    said_parts = [part for place, part in enumerate(said) if place % 3 != 2]
    return Template(tuple(parts[0::3]), gaps, tuple(said_parts), *kept)


def joined(parts: list[str]) -> str:
    """Put texts together: a space between Chinese and Latin letters or digits, none between Chinese ones."""
    text = ""
    for part in parts:
        if not part:
            continue
        if text:
            text, part = _bound(text, part)
        text += part
    return text


def _bound(left: str, right: str) -> tuple[str, str]:
    bare_left, bare_right = left.rstrip(" "), right.lstrip(" ")
    if not bare_left or not bare_right:
        return left, right
    before, after = bare_left[-1], bare_right[0]
    if not _WIDE.match(before) and not _WIDE.match(after):
        return left, right
    if before in _OPERATORS or after in _OPERATORS:
        return bare_left, f"{' ' * (left != bare_left or right != bare_right)}{bare_right}"
    letters = _LETTER.match(before), _LETTER.match(after)
    if (letters[0] and (after.isalnum() or after in "$<±'\"-+") and not letters[1]) or (
        letters[1] and (before.isalnum() or before in "%)'\"") and not letters[0]
    ):
        return bare_left, f" {bare_right}"
    return bare_left, bare_right
