"""Plain YAML scalars by the YAML 1.2 core schema (yaml.org/spec/1.2.2, section 10.3.2).

``yes`` and ``off`` are text, ``010`` is ten, ``1.48e9`` is a number.
"""

from __future__ import annotations

import re
from typing import Final

Scalar = str | int | float | bool | None
_INT: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NAN: Final = (".nan", ".NaN", ".NAN")
_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_FIRST: Final = frozenset("+-.0123456789")
"""What numbers begin with."""
_MOST_DIGITS: Final = 40
"""Longer integers become floats, which is enough to call them too large."""


def resolve(text: str) -> Scalar:
    """Turn the text of a plain (unquoted) scalar into its value."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST:  # most texts: no pattern below can match
        return text
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text) and len(text) <= _MOST_DIGITS:
        return int(text, 0)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return float("nan") if text in _NAN else text
