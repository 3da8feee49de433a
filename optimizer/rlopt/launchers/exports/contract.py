"""What an exporter takes and gives: one plan in, the files of one launcher out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rlopt.launchers.exports.run import Run


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that the plan says and the launcher cannot be told, with what to do about it."""

    says: str
    """What the plan says, and what the launcher does instead."""
    do: str
    """What to do about it."""
    shifts: bool = False
    """Whether memory or time of the run are then no longer those of the plan."""

    def __str__(self) -> str:
        return f"{self.says}: {self.do}" + (" [memory or time differ from the plan]" if self.shifts else "")


@dataclass(frozen=True, slots=True)
class Blank:
    """Something that only the user knows: a variable of the launch script, which stops where it is not set."""

    variable: str
    what: str
    default: str | None = None
    """Stands where the variable is not set; None: it must be set."""


@dataclass(frozen=True, slots=True)
class Export:
    """The files of one launcher, whole, with everything that a person has to know beside them."""

    launcher: str
    version: str
    files: Mapping[str, str]
    """Text by file name: launch.sh starts the job, smoke.sh (where asked for) a short trial of its memory."""
    gaps: tuple[Gap, ...]
    blanks: tuple[Blank, ...]
    checks: tuple[str, ...]
    """What to look at before the start."""
    smoke_seconds: float | None = None
    """How long smoke.sh takes by the plan, the machines' start included; None without it."""


class LauncherExport(Protocol):
    """A row of the table: the name on the command line, the version described, and what it trains."""

    @property
    def NAME(self) -> str: ...  # noqa: D102, N802

    @property
    def VERSION(self) -> str: ...  # noqa: D102, N802

    @property
    def ALGORITHMS(self) -> tuple[str, ...]: ...  # noqa: D102, N802

    def export(self, run: Run, smoke: bool) -> Export:
        """The launcher's files of a run; with ``smoke`` those of a short trial too."""
        ...
