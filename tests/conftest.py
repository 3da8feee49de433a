"""What every test of the suite shares: one hypothesis profile, one look of the terminal."""

from __future__ import annotations

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


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout's root folder."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give every test the same terminal and no user catalogs, whatever the one the suite runs in has."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "no-user-catalogs"))
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM_PROGRAM", "RLOPT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
