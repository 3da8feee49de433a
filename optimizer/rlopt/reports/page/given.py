"""The request as it was given: the file's own text, what it extends and what the command line changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """A request for people to read; nothing of it is interpreted.

    Parameters
    ----------
    name
        The file's name, without its folder.
    text
        The whole file.
    extends
        Presets and files that it builds on, in the order they were merged.
    overrides
        ``key=value`` texts of ``--set``.
    """

    name: str
    text: str
    extends: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
