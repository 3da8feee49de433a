"""A folder of files that belong together: checked before anything is written, each written whole."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from rlopt.cli.output import write_file
from rlopt.errors import Complaint, InputError

FIRST_LINES = 5


def write_folder(folder: Path, files: Mapping[str, str], mark: str) -> list[str]:
    """Write all files into a folder, made where it is missing, or none; return those of ``mark`` that stay from before.

    Files that do not bear ``mark`` in their first lines are never replaced, and no link is followed out of the folder.

    Raises
    ------
    InputError
        Before anything is written, with every file that stands in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of("-o", f"{folder} is no folder", allowed="a folder", fix="name another one")
    wrong = [_complaint(folder / name, mark) for name in files]
    found = [one for one in wrong if one is not None]
    if found:
        raise InputError(found)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".rlopt-", dir=folder) as room:  # all of them, or none where a disk is full
        for name, text in files.items():
            path = Path(room) / name
            write_file(path, text)
            if name.endswith(".sh"):
                path.chmod(path.stat().st_mode | 0o111)
        for name in files:
            (Path(room) / name).replace(folder / name)
    return sorted(_left(folder, files, mark))


def _left(folder: Path, files: Iterable[str], mark: str) -> list[str]:
    return [
        path.name for path in folder.iterdir() if path.name not in set(files) and path.is_file() and _bears(path, mark)
    ]


def _complaint(path: Path, mark: str) -> Complaint | None:
    if path.is_symlink():
        message = f"{path} is a link"
    elif not path.exists() or (path.is_file() and _bears(path, mark)):
        return None
    else:
        message = f"{path} is there and was not written by rlopt export"
    return Complaint(None, None, "-o", message, "a folder of its own", "name another folder, or move the file away")


def _bears(path: Path, mark: str) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return any(mark in file.readline(1000) for _ in range(FIRST_LINES))
    except OSError:
        return False
