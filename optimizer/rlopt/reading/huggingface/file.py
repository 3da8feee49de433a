"""A config.json as a mapping whose keys complain: file, line and key of everything that is wrong at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rlopt.errors import Complaint, InputError

#: A configuration is a few kB; anything near this is another file.
LARGEST_BYTES = 4 * 2**20
#: No dimension of a model comes near this; larger numbers are mistakes.
LARGEST_SIZE = 10**9


class ConfigFile:
    """Keys of one configuration; wrong ones are collected and raised together by `finish`.

    Raises
    ------
    InputError
        At once when the file can't be read, is too large, or holds no JSON object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path / "config.json" if path.is_dir() else path
        self._complaints: list[Complaint] = []
        self._text = self._read()
        self.keys = self._parse()

    def _refuse(self, message: str, line: int | None = None, allowed: str = "") -> InputError:
        return InputError.of(
            "", message, file=str(self.path), line=line, allowed=allowed, fix="name a model's config.json"
        )

    def _read(self) -> str:
        if not self.path.is_file():
            raise self._refuse("is no file")
        try:
            size = self.path.stat().st_size
            if size > LARGEST_BYTES:
                message = f"{size} bytes are too many for a model configuration"
                raise self._refuse(message, allowed=f"up to {LARGEST_BYTES} bytes")
            return self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise self._refuse(f"can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise self._refuse("is not UTF-8 text") from error

    def _parse(self) -> dict[str, Any]:
        try:
            found = json.loads(self._text)
        except json.JSONDecodeError as error:
            raise self._refuse(f"is not JSON: {error.msg}", error.lineno) from error
        except (RecursionError, ValueError) as error:
            raise self._refuse("is not JSON that can be read: too deep or with too long a number") from error
        if not isinstance(found, dict):
            raise self._refuse(f"holds a {type(found).__name__}, not an object of keys", 1)
        return found

    def _line(self, key: str) -> int | None:
        match = re.search(rf'"{re.escape(key)}"\s*:', self._text)
        return self._text.count("\n", 0, match.start()) + 1 if match else None

    def complain(self, key: str, message: str, allowed: str = "", fix: str = "") -> None:
        """Note one wrong key."""
        self._complaints.append(Complaint(str(self.path), self._line(key), key, message, allowed, fix))

    def whole(self, key: str, default: int | None = None, least: int = 1) -> int:
        """Return a whole number; a missing key without a default, or another value, is a complaint."""
        value = self.keys.get(key)
        if value is None:
            if default is None:
                self.complain(key, "is missing", "a whole number", f'add "{key}"')
                return least
            return default
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= LARGEST_SIZE:
            self.complain(key, f"is {str(value)[:40]!r}", f"a whole number from {least} to {LARGEST_SIZE}")
            return least
        return number

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.keys.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.complain(key, f"is {str(value)[:40]!r}", "true or false")
            return default
        return value

    def finish(self) -> None:
        """Raise every complaint, if there is one."""
        if self._complaints:
            raise InputError(self._complaints)
