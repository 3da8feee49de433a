"""Nothing that a reader may see is left in English: the source is walked over, text by text."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import polib
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import rlopt.request
from rlopt.language.catalogue import catalogue
from rlopt.language.template import NUMBER, Template, template
from tests.language.texts import Said, shape, texts_of, texts_of_page

SOURCE = Path(__file__).resolve().parents[2] / "optimizer" / "rlopt"
FOLDER = SOURCE / "language" / "zh"
MADE_OF_PARTS = "words.po"
"""Words and what is made of them: what a text is put together from, in no single place of the source."""

VOCABULARIES = "words.py"
"""The module whose strings are single words, wherever a report says them."""
COMPLETE = "reports/"
"""The room whose sentences all have an entry. Other rooms are a ratchet: what has an entry keeps it, a new sentence may
be English until somebody translates it."""
NO_READER = {
    "reports/csv_frontier.py": "a file with keys as columns",
    "reports/accuracy_plot.py": "a picture for the documentation",
}
"""Modules of it whose texts reach no reader, each with the reason."""
FEW_WORDS = ("reports/check/", "reports/page/", "reports/frontier_plot.py", "reports/timeline.py")
"""Rooms whose single words are a drawing library's or a template's, but for those that they say themselves."""
FONT = re.compile(r"(DejaVu|Noto|Source Han|Hiragino|WenQuanYi|Microsoft YaHei)")
NOT_WORDS = frozenset(
    {
        "axes fraction",
        "offset points",
        '<a href="{0}" rel="noopener noreferrer" target="_blank">{0}</a>',
        '<span class="date">{0}</span>',
        "default-src 'none'",
        "script-src {allowed}",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "{said} {one} GiB<extra></extra>",
        "{tr} {one} GiB<extra></extra>",
        "Glyph .* missing",
        "bold cyan",
    }
)
"""Names, options, patterns of other languages: texts that are the same in every language or that nobody reads."""


def _texts(path: Path) -> list[Said]:
    name = path.relative_to(SOURCE).as_posix()
    if path.suffix == ".j2":
        return texts_of_page(path, SOURCE)
    single_words = name == VOCABULARIES or (name.startswith("reports/") and not name.startswith(FEW_WORDS))
    return texts_of(path, SOURCE, single_words)


@cache
def _source() -> tuple[Said, ...]:
    paths = sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.j2")])
    return tuple(text for path in paths for text in _texts(path))


@cache
def _entries() -> tuple[tuple[str, polib.POEntry], ...]:
    return tuple((path.name, entry) for path in sorted(FOLDER.glob("*.po")) for entry in polib.pofile(str(path)))


def _is_under(name: str, rooms: Iterable[str]) -> bool:
    return any(name == room or (room.endswith("/") and name.startswith(room)) for room in rooms)


def _numbered(text: str) -> str:
    """A text with a number in each gap."""
    numbers = iter(range(7, 99))
    return re.sub(r"\{\w*\}", lambda _: str(next(numbers)), text)


def test_every_text_of_a_report_has_an_entry() -> None:
    known = {shape(entry.msgid) for _, entry in _entries()}
    chinese = catalogue("zh")
    missing = [
        f"{text.file}:{text.line}: {text.text}"
        for text in _source()
        if text.file.startswith(COMPLETE)
        and not _is_under(text.file, NO_READER)
        and text.text not in NOT_WORDS
        and not FONT.match(text.text)
        and shape(text.text) not in known
        and chinese.unsaid(_numbered(text.text))
    ]
    assert not missing, "add these to optimizer/rlopt/language/zh/*.po:\n" + "\n".join(missing)


def test_every_exception_is_still_there() -> None:
    files = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")]
    rooms = [*NO_READER, *FEW_WORDS]
    assert [room for room in rooms if not any(_is_under(file, [room]) for file in files)] == []
    texts = {text.text for text in _source() if text.file.startswith(COMPLETE)}
    assert {words for words in NOT_WORDS if words not in texts} == set()


def _wanted_keys() -> set[str]:
    """What the keys of a request take that have no default: an error says it where one is missing."""
    found = set()
    for room in pkgutil.walk_packages(rlopt.request.__path__, "rlopt.request."):
        for part in vars(importlib.import_module(room.name)).values():
            if isinstance(part, type) and issubclass(part, BaseModel):
                fields = part.model_fields.values()
                found |= {field.description.strip() for field in fields if field.is_required() and field.description}
    return found


def test_what_a_missing_key_takes_has_an_entry() -> None:
    assert _wanted_keys() - {entry.msgid for _, entry in _entries()} == set()


def test_every_entry_is_still_in_the_source() -> None:
    texts = {shape(text.text) for text in _source()} | {shape(text) for text in _wanted_keys()}
    unused = [entry.msgid for name, entry in _entries() if name != MADE_OF_PARTS and shape(entry.msgid) not in texts]
    assert unused == []


def test_every_entry_is_complete() -> None:
    for name, entry in _entries():
        assert entry.msgstr, f"{name}: {entry.msgid} has no translation"
        assert not entry.fuzzy, f"{name}: {entry.msgid} is fuzzy"
        template(entry.msgid, entry.msgstr)  # raises where the gaps differ


def test_no_text_has_two_meanings() -> None:
    said: dict[str, str] = {}
    for name, entry in _entries():
        chinese = re.sub(r"\{\w+(![anrs])?\}", "{}", entry.msgstr)
        counted = entry.msgid if "{n}" in entry.msgid else shape(entry.msgid)
        before = said.setdefault(counted, chinese)
        assert before == chinese, f"{name}: {entry.msgid!r} is said twice, {before!r} and {chinese!r}"


@cache
def _ways() -> tuple[Template, ...]:
    return tuple(way for _, entry in _entries() if (way := template(entry.msgid, entry.msgstr)).gaps)


def _put(way: Template, contents: dict[str, str]) -> str:
    """The English text with contents in its gaps."""
    parts = [part for pair in zip(way.literals, (*way.gaps, None), strict=True) for part in pair]
    return "".join(contents[part] if place % 2 else part for place, part in enumerate(parts) if part is not None)


def _said_alike(way: Template, contents: dict[str, str]) -> str:
    """Empty where the text is said by this entry, or by another in the same words; else what is wrong."""
    english, due = _put(way, contents), way.fill(contents)
    chinese = catalogue("zh").say(english)
    return "" if chinese.strip() == due.strip() else f"{english!r} is said {chinese!r}, not {due!r}"


def test_no_entry_is_hidden_behind_another() -> None:
    """Whatever entries a text may be taken for, it is said by the one that it was made of."""
    values = ("7", "1.5e-06", "12%")
    wrong = []
    for way in _ways():
        contents = {
            gap: values[place % 3] if gap in way.numbers or gap == NUMBER else f"x{place}"
            for place, gap in enumerate(way.gaps)
        }
        wrong.append(_said_alike(way, contents))
    assert not any(wrong), "\n".join(filter(None, wrong))


@settings(max_examples=100)
@given(st.data())
def test_a_text_with_any_values_is_said_with_those_values(data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(_ways()))
    numbers = st.from_regex(r"[1-9][0-9]{0,3}(\.[0-9])?%?", fullmatch=True)
    names = st.from_regex(r"[A-Z][A-Z0-9]{1,5}-[0-9]{1,3}", fullmatch=True)
    contents = {gap: data.draw(numbers if gap in way.numbers or gap == NUMBER else names) for gap in way.gaps}
    assert not (wrong := _said_alike(way, contents)), wrong
