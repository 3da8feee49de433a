"""What launchers do when a machine is lost, and which kernels they have. One file of the catalogs, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir
from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.request import Request
from rlopt.workloads.variants import Variant, sampling_alike


@dataclass(frozen=True, slots=True)
class Launcher:
    """A launcher; ``elastic`` is None where nothing states whether machines may join and leave."""

    name: str
    elastic: bool | None
    source: str
    note: str
    chunked_loss: bool | None = None
    """Whether its training can keep from holding all logits; None where nothing states it."""
    kernels_source: str = ""


@lru_cache(maxsize=8)
def load_launchers(folder: Path | None = None) -> Mapping[str, Launcher]:
    """Read ``launchers.yaml`` of the shipped catalogs (or of ``folder``)."""
    from rlopt.facts.files.tables import table

    found = table((folder or catalogs_dir()) / "launchers.yaml")
    return {
        name: Launcher(
            name,
            entry["elastic"],
            entry["source"],
            entry["note"],
            entry.get("chunked_loss"),
            entry.get("kernels_source", ""),
        )
        for name, entry in found.items()
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


def with_known_kernels(request: Request, variants: Sequence[Variant]) -> tuple[tuple[Variant, ...], list[str]]:
    """The ways to run the job whose kernels the named launcher has, and what is to be said of the others.

    Raises
    ------
    NotSupportedError
        Where none is left.
    """
    found = launcher_of(request)
    chosen = [one for one in variants if one.kernels is not None]
    if found is None or found.chunked_loss or all(one.kernels.loss == "whole" for one in chosen if one.kernels):
        return tuple(variants), []
    kept = [one for one in variants if one.kernels is None or one.kernels.loss == "whole"]
    states = "has none" if found.chunked_loss is False else "is not known to have one"
    text = f"{found.name} {states}"
    if not kept:
        raise NotSupportedError("choices.kernels.loss", f"chunked needs a chunked or fused loss: {text}")
    return sampling_alike(kept), [f"chunked losses: {text}"]
