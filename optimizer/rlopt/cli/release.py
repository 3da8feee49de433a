"""What this release does not do yet: refused in one sentence, before any work."""

from __future__ import annotations

from typing import NoReturn


def refuse(key: str, instead: str) -> NoReturn:
    """Say that `key`, a command or an option, is not in this release yet, and what to use meanwhile.

    Raises
    ------
    NotSupportedError
        Always; the process ends with exit code 2.
    """
    from rlopt.errors import NotSupportedError

    message = f"not in this release yet; {instead}"
    raise NotSupportedError(key, message)
