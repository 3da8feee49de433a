"""Tables that made-up catalogs share with the shipped one: constants, launchers, stores and printed names."""

from __future__ import annotations

from typing import Any

from rlopt.facts.files.folder import load_catalog

_NAMES = ("calibration", "operations", "nodes", "launchers", "stores", "skypilot", "measured")


def shipped_tables() -> dict[str, Any]:
    """Fields of the shipped catalog that no test of offers makes up."""
    catalog = load_catalog()
    return {name: getattr(catalog, name) for name in _NAMES}
