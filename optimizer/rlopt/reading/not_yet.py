"""Keys that are read but that no plan takes into account yet: refused, so that none is silently left out."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from rlopt.errors import NotSupportedError
from rlopt.request import Request

KEYS: Final = (
    "job.metrics",
    "job.text_log",
    "job.cache",
    "job.data.precision",
    "job.data.versions",
    "job.data.shared_by",
    "job.data.stands_in",
    "choices.offers",
    "costs.keep_for.full_text",
    "costs.idle",
)
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
    for name in request.limits.budget_parts:
        raise NotSupportedError(f"limits.budget.{name}", "not in this release yet; give the total alone")


def _is_set(request: Request, key: str) -> bool:
    """Tell whether a value differs from what holds when nothing is written."""
    *sections, name = key.split(".")
    record: BaseModel = request
    for section in sections:
        record = getattr(record, section)
    value: object = getattr(record, name)
    default: object = type(record).model_fields[name].default
    return value != default
