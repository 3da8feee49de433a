"""What every test of the suite shares: one hypothesis profile, one look of the terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run and no clock: a red suite means a changed program, not a slow machine.
settings.register_profile(
    "rlopt",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rlopt")

# Nor do the prices that whoever runs the suite has brought in, not even in what is solved once for many tests.
os.environ["RLOPT_CATALOGS"] = str(Path(__file__).parent / "no-user-catalogs")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout's root folder."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test the same terminal, whatever the one the suite runs in."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM_PROGRAM", "RLOPT_DEBUG", "RLOPT_LANG"):
        monkeypatch.delenv(name, raising=False)
