"""The error family: every way a question can stay without an answer, and what to do about it.

All of them derive from `RloptError` and carry the exit code of the command line (interface, section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class RloptError(Exception):
    """Base of everything that rlopt raises on purpose."""

    exit_code: ClassVar[int] = 2

    def sentence(self) -> str:
        """What is wrong in one line without a full stop, to stand inside a sentence of a report."""
        return " ".join(str(self).split()).rstrip(".")


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong with an input, with the place and one way to mend it.

    Parameters
    ----------
    file, line
        Where it stands; ``None`` where there is no file or no single line. Lines count from 1.
    key
        Dotted key, for example ``limits.quotas[0].gpu``; empty for the file as a whole.
    message
        What is wrong, with the value that was found.
    allowed
        What would be right; may be empty.
    fix
        One change that mends it; may be empty.
    """

    file: str | None
    line: int | None
    key: str
    message: str
    allowed: str = ""
    fix: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        head = ": ".join(part for part in (place, self.key, self.message) if part)
        tail = [f"  {name}: {text}" for name, text in (("allowed", self.allowed), ("fix", self.fix)) if text]
        return "\n".join([head, *tail])


class InputError(RloptError):
    """The input is not what the contract allows; every complaint at once, in the order of the file.

    Parameters
    ----------
    complaints
        At least one.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, complaints: Iterable[Complaint]) -> None:
        self.complaints: tuple[Complaint, ...] = tuple(complaints)
        super().__init__(self.complaints)

    def __str__(self) -> str:
        return "\n".join(str(complaint) for complaint in self.complaints)

    @classmethod
    def of(
        cls,
        key: str,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        allowed: str = "",
        fix: str = "",
    ) -> InputError:
        """Build an error with a single complaint."""
        return cls([Complaint(file, line, key, message, allowed, fix)])


class NotSupportedError(RloptError):
    """The input is right, but this release has no such part yet.

    Parameters
    ----------
    key
        Dotted key of the request, or the option of the command line.
    message
        What is not there, and what to use meanwhile.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        self.message = message
        super().__init__(key, message)

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


class MissingFactError(RloptError):
    """A catalog lacks what the answer needs: it is named, never invented.

    Parameters
    ----------
    what
        The fact, for example ``model Qwen/Qwen9-1B``.
    needed_for
        What cannot be computed without it.
    fix
        What the user can do.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, needed_for: str, fix: str = "") -> None:
        self.what = what
        self.needed_for = needed_for
        self.fix = fix
        super().__init__(what, needed_for, fix)

    def __str__(self) -> str:
        return f"{self._lack()}\n  fix: {self.fix}" if self.fix else self._lack()

    def _lack(self) -> str:
        return f"the catalogs lack {self.what}, needed for {self.needed_for}"

    def sentence(self) -> str:
        """What is missing in one line, and in brackets what to do about it."""
        fix = " ".join(self.fix.split()).rstrip(".")
        return f"{self._lack()} ({fix})" if fix else self._lack()


class InfeasibleError(RloptError):
    """No plan meets every limit and floor.

    Parameters
    ----------
    message
        What was asked.
    relaxations
        Changes that make it feasible, each priced (`rlopt.answers.plan.Relaxation`, or lists of them).
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, relaxations: Sequence[Any] = ()) -> None:
        self.message = message
        self.relaxations: tuple[Any, ...] = tuple(relaxations)
        super().__init__(message, self.relaxations)

    def __str__(self) -> str:
        return self.message


class SolverError(RloptError):
    """An internal fault: a solver failed, or a plan did not pass the audit."""

    exit_code: ClassVar[int] = 1
