"""Short keys for the long texts that say where a fact comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GITHUB = re.compile(r"github:([\w.-]+/[\w.-]+)(?:@([0-9a-f]{7}))?")
_ADDRESS = re.compile(r"https?://(?:www\.)?([^\s/]+)(/[^\s;]*)?")


def _stem(text: str) -> str:
    """Name a source by its repository or site."""
    repository = _GITHUB.search(text)
    page = _ADDRESS.search(text)
    if repository and repository.start() == 0:
        name = repository[1] + (f"@{repository[2]}" if repository[2] else "")
        return f"{name}<-{page[1]}" if page and "<-" in text else name
    if page and page.start() == 0:
        return page[1]
    return " ".join(re.findall(r"[\w./=:-]+", text)[:3]) or "unnamed"


def source_keys(texts: Iterable[str]) -> dict[str, str]:
    """Map each text to a short key: its repository or site, numbered where several texts share it.

    The texts are taken in sorted order, so that the keys don't depend on the order of the catalogs.

    Raises
    ------
    ValueError
        When a text is empty: a row without a source is not a fact.
    """
    keys: dict[str, str] = {}
    taken: dict[str, int] = {}
    for text in sorted(set(texts)):
        if not text:
            message = "a row without a source"
            raise ValueError(message)
        stem = _stem(text)
        taken[stem] = taken.get(stem, 0) + 1
        keys[text] = stem if taken[stem] == 1 else f"{stem}#{taken[stem]}"
    return keys
