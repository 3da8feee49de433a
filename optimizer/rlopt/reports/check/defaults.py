"""What a request leaves at a default, and what that default costs or leaves out: the last lines of ``rlopt check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from pydantic import BaseModel

from rlopt.facts import Catalog
from rlopt.request import ROLES, Request


@dataclass(frozen=True, slots=True)
class Default:
    """One key and what holds while it is left out.

    Parameters
    ----------
    group
        Heading of the line that names it; rows of a group follow each other.
    key
        Dotted key of the request.
    means
        What the default costs or leaves out, or a function that says it of a request: "" says nothing.
    algorithms
        Algorithms that the key matters to.
    left
        Whether the key is left out, where the request holds it in a list; `is_left` otherwise.
    """

    group: str
    key: str
    means: str | Callable[[Request], str]
    algorithms: tuple[str, ...] = tuple(ROLES)
    left: Callable[[Request], bool] | None = None

    def told(self, request: Request) -> str:
        """What the default means to a request; "" where it is given, does not apply or is not worth a word."""
        left = is_left(request, self.key) if self.left is None else self.left(request)
        if request.job.algorithm not in self.algorithms or not left:
            return ""
        return self.means if isinstance(self.means, str) else self.means(request)


def is_left(request: Request, key: str) -> bool:
    """Whether a key stands at its default and was not written; False below a part that the request does not have."""
    for place in request.source.places:
        if place == key or place.startswith((f"{key}.", f"{key}[")):
            return False
    value: object = request
    field = None
    for name in key.split("."):
        if not isinstance(value, BaseModel):
            return False
        field = type(value).model_fields[name]
        value = getattr(value, name)
    return field is not None and value == field.get_default(call_default_factory=True)


def defaults(request: Request, facts: Catalog) -> Iterator[str]:
    """One line for each group that has something at a default: ``at defaults, people: key: what it means; ...``."""
    from rlopt.reports.check.default_rows import rows

    for group, members in groupby(rows(facts), key=lambda row: row.group):
        said = [(row.key, row.told(request)) for row in members]
        if any(text for _, text in said):
            yield f"at defaults, {group}: " + "; ".join(f"{key}: {text}" for key, text in said if text)
