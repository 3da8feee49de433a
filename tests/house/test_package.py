"""The package as others import it, and the habits of its files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rlopt

MOST_LINES = 300
LONGER = {
    "rlopt/api.py": "every public function side by side, each a few lines",
    "rlopt/request/job/parts.py": "the request, field by field: its docstrings are the published schema",
    "rlopt/request/values/kinds.py": "every kind of value side by side, so that their messages stay alike",
}
"""Files that may be longer, with the reason."""


def test_every_public_name_is_there() -> None:
    for name in rlopt.__all__:
        assert getattr(rlopt, name) is not None


def test_names_of_the_interface_are_public() -> None:
    promised = {"load", "solve", "frontier", "explain", "Request", "Plan", "__version__"}
    promised |= {"InputError", "InfeasibleError", "MissingFactError", "SolverError"}
    assert promised <= set(rlopt.__all__) == set(dir(rlopt))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        rlopt.sovle  # noqa: B018


def test_import_is_light() -> None:
    code = "import sys, rlopt; sys.exit(len([m for m in sys.modules if m.startswith('rlopt.')]))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_files_hold_one_idea(root: Path) -> None:
    long = {
        path.relative_to(source).as_posix()
        for source in (root / "optimizer", root / "lab")
        for path in source.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    }
    assert long <= LONGER.keys()


def test_the_package_states_that_it_is_typed(root: Path) -> None:
    assert (root / "optimizer" / "rlopt" / "py.typed").is_file()
