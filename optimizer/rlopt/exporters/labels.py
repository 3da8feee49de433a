"""A job's tags as each cloud allows them: longest length, letters, and what had to change.

Sources: AWS "Tag naming and usage conventions" (docs.aws.amazon.com/tag-editor), GCP "Requirements for labels"
(cloud.google.com/resource-manager/docs/labels-overview), Azure "Tag usage and limitations"
(learn.microsoft.com/azure/azure-resource-manager/management/tag-resources).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rlopt.answers.plan import Plan
from rlopt.request import Request

JOB, ALGORITHM, PART = "job", "algorithm", "job-part"
"""Keys beside the job's own tags. ``job-part`` tells dimensions of the bill apart: clouds filter by one tag."""
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A key or value that a cloud does not take as it is."""

    original: str
    written: str


def job_tags(plan: Plan, request: Request) -> dict[str, str]:
    """The job's own tags, its name and its algorithm; a tag that the job sets itself stays."""
    return {JOB: request.job.name, ALGORITHM: request.job.algorithm, **plan.tags}


def emails(tags: Mapping[str, str]) -> list[str]:
    """Tag values that are e-mail addresses: who is written to."""
    return [value.strip() for value in tags.values() if _EMAIL.fullmatch(value.strip())]


def aws_text(text: str, most: int) -> str:
    """Letters, digits, spaces and + - = . _ : / @, at most ``most``."""
    return re.sub(r"[^\w +\-=.:/@]", "-", text)[:most].strip() or "-"


def aws_key(text: str) -> str:
    """An AWS tag key; ``aws:`` is reserved."""
    found = aws_text(text, 128)
    return f"my-{found}"[:128] if found.lower().startswith("aws:") else found


def gcp_text(text: str) -> str:
    """Lower-case letters, digits, _ and -, at most 63."""
    return re.sub(r"[^\w-]", "-", text.lower())[:63]


def gcp_key(text: str) -> str:
    """A GCP label key, which starts with a letter."""
    found = gcp_text(text)
    return found if found[:1].isalpha() else f"l-{found}"[:63]


def azure_key(text: str) -> str:
    """An Azure tag name: no slash, backslash or any of < > % & ?, no control characters, at most 128."""
    return re.sub(r"[<>%&\\?/\x00-\x1f]", "-", text)[:128]


def azure_text(text: str) -> str:
    """An Azure tag value: at most 256."""
    return re.sub(r"[\x00-\x1f]", " ", text)[:256]


@dataclass(frozen=True, slots=True)
class Labelling:
    """How one cloud takes tags: a key and a value as it allows them, and the longest key."""

    key: Callable[[str], str]
    value: Callable[[str], str]
    longest_key: int

    def labels(self, tags: Mapping[str, str]) -> tuple[dict[str, str], list[Renamed]]:
        """Tags as the cloud takes them, and what had to change."""
        found: dict[str, str] = {}
        changed = []
        for key, value in tags.items():
            new, number = self.key(key), 2
            while new in found:  # two keys that a cloud cannot tell apart
                ending = f"-{number}"
                new, number = self.key(key)[: self.longest_key - len(ending)] + ending, number + 1
            found[new] = self.value(value)
            pairs = ((key, new), (value, found[new]))
            changed += [Renamed(original, written) for original, written in pairs if original != written]
        return found, changed


AWS: Final = Labelling(aws_key, lambda text: aws_text(text, 256), 128)
GCP: Final = Labelling(gcp_key, gcp_text, 63)
AZURE: Final = Labelling(azure_key, azure_text, 128)
