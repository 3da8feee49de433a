"""The README in two languages: what a machine reads is the same in both, section by section."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

LANGUAGES = ("README.md", "README.zh.md")
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_FENCE = re.compile(r"```\w*\n.*?```", re.DOTALL)
ANSWER = "```text"
"""Answers are in the reader's language."""
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)]+)\)")
_CELL = re.compile(r"^\| ?(.*?) ?\|", re.MULTILINE)


def _sections(root: Path, name: str) -> list[str]:
    """The text of a README by section, from its title on."""
    return re.split(r"^(?=#+ )", (root / name).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize(
    ("what", "pattern"),
    [("headings", _HEADING), ("blocks of code", _FENCE), ("links", _LINK)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_both_languages_have_the_same(root: Path, what: str, pattern: re.Pattern[str]) -> None:
    first, second = (_sections(root, name) for name in LANGUAGES)
    assert len(first) == len(second), "README.zh.md: as many sections as README.md"
    for english, chinese in zip(first, second, strict=True):
        wanted, found = (_of(pattern, text) for text in (english, chinese))
        assert wanted == found, f"README.zh.md: the same {what} as README.md in section {english.splitlines()[0]!r}"


def _of(pattern: re.Pattern[str], text: str) -> list[str]:
    bare = text if pattern is _FENCE else _FENCE.sub("", text)
    return [found for found in pattern.findall(bare) if found not in LANGUAGES and not found.startswith(ANSWER)]


def test_both_languages_have_the_same_rows_of_code(root: Path) -> None:
    def rows(name: str) -> list[list[str]]:
        text = _FENCE.sub("", (root / name).read_text(encoding="utf-8"))
        return [_CODE.findall(cell) for cell in _CELL.findall(text) if _CODE.search(cell)]

    english, chinese = (rows(name) for name in LANGUAGES)
    missing = [row for row in english if row not in chinese]
    assert english == chinese, f"README.zh.md: a row for {missing or 'each row, in the order of README.md'}"


def test_every_command_has_a_row(root: Path) -> None:
    from rlopt.cli.entry import COMMANDS

    text = (root / "README.md").read_text(encoding="utf-8")
    missing = [command.name for command in COMMANDS if f"`rlopt {command.name}" not in text]
    assert missing == [], f"README.md: rows for these commands, in README.zh.md too: {missing}"
