"""What the launcher that a request names does when a machine is lost, and which kernels it has."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.facts import Catalog, Launcher
from rlopt.request import Request
from rlopt.workloads.variants import Variant, sampling_alike


def launcher_of(request: Request, catalog: Catalog) -> Launcher | None:
    """The launcher that the request names; None where it names none.

    Raises MissingFactError where the catalog does not know it.
    """
    name = request.recovery.launcher
    if name is None:
        return None
    known = catalog.launchers
    if name.lower() not in known:
        raise MissingFactError(
            f"launcher {name}", "what a lost machine stops", f"write one of {', '.join(known)}, or delete the key"
        )
    return known[name.lower()]


def elastic(request: Request, catalog: Catalog) -> bool:
    """Whether rollout machines may come and go while the run goes on: only where the named launcher says so."""
    found = launcher_of(request, catalog)
    return found is not None and bool(found.elastic)


def with_known_kernels(
    request: Request, variants: Sequence[Variant], catalog: Catalog
) -> tuple[tuple[Variant, ...], list[str]]:
    """The ways to run the job whose kernels the named launcher has, and what is to be said of the others.

    Raises
    ------
    NotSupportedError
        Where none is left.
    """
    found = launcher_of(request, catalog)
    chosen = [one for one in variants if one.kernels is not None]
    if found is None or found.chunked_loss or all(one.kernels.loss == "whole" for one in chosen if one.kernels):
        return tuple(variants), []
    kept = [one for one in variants if one.kernels is None or one.kernels.loss == "whole"]
    states = "has none" if found.chunked_loss is False else "is not known to have one"
    text = f"{found.name} {states}"
    if not kept:
        raise NotSupportedError("choices.kernels.loss", f"chunked needs a chunked or fused loss: {text}")
    return sampling_alike(kept), [f"chunked losses: {text}"]
