"""Launchers' own configurations from a plan. One launcher is one file and one row of the table below.

``rlopt export`` writes them. What a plan says and a launcher cannot be told is never dropped: it is a gap, with what to
do about it; what only the user knows is a blank that the launch script asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rlopt.errors import NotSupportedError
from rlopt.launchers.exports.contract import Blank, Export, Gap, LauncherExport
from rlopt.launchers.exports.notes import notes_of
from rlopt.launchers.exports.run import Run
from rlopt.launchers.nemo_rl import export as nemo_rl
from rlopt.launchers.openrlhf import export as openrlhf
from rlopt.launchers.skypilot import export as skypilot
from rlopt.launchers.trl import export as trl
from rlopt.launchers.verl import export as verl

LAUNCHERS: Final[Mapping[str, LauncherExport]] = {one.NAME: one for one in (verl, openrlhf, trl, nemo_rl, skypilot)}


def needs(name: str, algorithm: str) -> None:
    """Refuse a launcher that has no trainer for an algorithm, and name those that have one.

    Raises
    ------
    NotSupportedError
        Before any work.
    """
    if algorithm in LAUNCHERS[name].ALGORITHMS:
        return
    able = [other for other, one in LAUNCHERS.items() if algorithm in one.ALGORITHMS and other != skypilot.NAME]
    instead = f"export to {' or '.join(able)}" if able else "no launcher known here has one"
    message = f"{name} has no trainer for {algorithm}; {instead} ({skypilot.NAME} rents the machines for any)"
    raise NotSupportedError("--to", message)


def export_run(name: str, run: Run, smoke: bool = False) -> Export:
    """The files of a launcher for a run, the notes among them."""
    made = LAUNCHERS[name].export(run, smoke)
    notes = "README-skypilot.txt" if name == "skypilot" else "README.txt"
    files = {**made.files, notes: ""}
    return replace(made, files=files | {notes: notes_of(run, replace(made, files=files))})


__all__ = ["LAUNCHERS", "Blank", "Export", "Gap", "LauncherExport", "Run", "export_run", "needs"]
