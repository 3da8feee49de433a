"""What is said while a report is laid out in Chinese, and what of it is still English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rlopt import language
from rlopt.language.catalogue import Catalogue, catalogue

SENTENCE = re.compile(r"(?<![\w./\-])[A-Za-z]?[a-z]+(?:,? [a-z]+){2,}(?![\w./\-]*[\w/])")
"""Three English words in a row: no name of a model, a machine or a key has as many."""


@contextmanager
def listening() -> Iterator[dict[str, str]]:
    """Report in Chinese while the block runs; every text asked for, with what was said."""
    heard: dict[str, str] = {}
    say = Catalogue.say

    def noted(self: Catalogue, text: str) -> str:
        if text in heard.values():
            return text
        heard[text] = say(self, text)
        return heard[text]

    with pytest.MonkeyPatch.context() as patch, language.use("zh"):
        patch.setattr(Catalogue, "say", noted)
        yield heard


def english_left(heard: dict[str, str]) -> list[str]:
    """Texts of which words are left, each with what was said."""
    chinese = catalogue("zh")
    return [
        f"{text!r} is said {said!r}" for text, said in heard.items() if chinese.unsaid(text) or SENTENCE.search(said)
    ]
