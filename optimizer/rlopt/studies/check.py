"""What a valid request says: whatever it names is known, and what was derived from it, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlopt.facts import Catalog
from rlopt.market.launchers import launcher_of
from rlopt.market.market import named_devices
from rlopt.market.places import check_places
from rlopt.reading.comparison import load_compared
from rlopt.reading.model_facts import resolve_models
from rlopt.reading.rest import user_notes
from rlopt.reports.check.sentences import derived
from rlopt.request import Request


def checked(request: Request, facts: Catalog, path: Path, overrides: Sequence[str]) -> list[str]:
    """Sentences on a request that was read from ``path``, and on what it states of a comparison.

    Raises
    ------
    InputError, MissingFactError
        Where a comparison is not right; where a model, GPU, place or launcher is named that no catalog knows.
    """
    check_places(request, facts)
    for name in request.choices.gpus or ():
        named_devices(name, facts)
    launcher_of(request, facts)
    resolve_models(request, facts)
    if set(request.compare) - {request.job.algorithm}:
        for one in load_compared(path, (), overrides):
            resolve_models(one.request, facts)
    return [*derived(request, facts), *user_notes(request)]
