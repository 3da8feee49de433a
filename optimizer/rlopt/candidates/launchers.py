"""What launchers do when a machine is lost. One file of the catalogs, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir
from rlopt.errors import MissingFactError
from rlopt.request import Request


@dataclass(frozen=True, slots=True)
class Launcher:
    """A launcher; ``elastic`` is None where nothing states whether machines may join and leave."""

    name: str
    elastic: bool | None
    source: str
    note: str


@lru_cache(maxsize=8)
def load_launchers(folder: Path | None = None) -> Mapping[str, Launcher]:
    """Read ``launchers.yaml`` of the shipped catalogs (or of ``folder``)."""
    from ruamel.yaml import YAML

    text = ((folder or catalogs_dir()) / "launchers.yaml").read_text(encoding="utf-8")
    table = YAML(typ="safe", pure=True).load(text)
    return {
        name: Launcher(name, entry["elastic"], entry["source"], entry["note"])
        for name, entry in table.items()
        if isinstance(entry, dict)
    }


def launcher_of(request: Request) -> Launcher | None:
    """The launcher that the request names; None where it names none.

    Raises MissingFactError where the catalog does not know it.
    """
    name = request.recovery.launcher
    if name is None:
        return None
    known = load_launchers()
    if name.lower() not in known:
        raise MissingFactError(
            f"launcher {name}", "what a lost machine stops", f"write one of {', '.join(known)}, or delete the key"
        )
    return known[name.lower()]


def elastic(request: Request) -> bool:
    """Whether rollout machines may come and go while the run goes on: only where the named launcher says so."""
    found = launcher_of(request)
    return found is not None and bool(found.elastic)
