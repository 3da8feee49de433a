"""Keys that are read but that no plan takes into account yet: refused, so that none is silently left out."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from rlopt.errors import NotSupportedError
from rlopt.request import Request

KEYS: Final = ("choices.offers",)
"""A key leaves this list with the code that takes it into account."""


def refuse_what_waits(request: Request) -> None:
    """Raise for what a request asks and no plan can give.

    Raises
    ------
    NotSupportedError
        With the dotted key.
    """
    for key in KEYS:
        if _is_set(request, key):
            raise NotSupportedError(key, "not in this release yet; leave it out")


def _is_set(request: Request, key: str) -> bool:
    """Tell whether a value differs from what holds when nothing is written."""
    *sections, name = key.split(".")
    record: BaseModel = request
    for section in sections:
        record = getattr(record, section)
    value: object = getattr(record, name)
    default: object = type(record).model_fields[name].default
    return value != default
