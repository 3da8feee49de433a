"""Where the data live: inside the wheel, or at the root of a checkout.

A wheel carries ``rlopt/_data/{catalogs,constraints}``; a checkout reads ``/catalogs``,
``/constraints`` and ``/examples`` in place, so an edited catalog needs no build step.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _data(name: str) -> Path:
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parents[1] / name


def catalogs_dir() -> Path:
    """Folder of the catalogs: facts about the world, with provenance."""
    return _data("catalogs")


def constraints_dir() -> Path:
    """Folder of the presets that a request may extend."""
    return _data("constraints")


def examples_dir() -> Path:
    """Folder of the example requests (a checkout has it; a wheel may not)."""
    return _data("examples")


def user_catalogs_dir() -> Path:
    """Folder of the user catalogs, which may not exist: ``RLOPT_CATALOGS``, else in the platform's data folder."""
    given = os.environ.get("RLOPT_CATALOGS")
    if given:
        return Path(given).expanduser().absolute()
    import platformdirs  # most runs have the folder named or need nothing of it

    return Path(platformdirs.user_data_dir("rlopt", appauthor=False)) / "catalogs"
