"""Every way to end badly: one block on stderr, no traceback, the right code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt.errors import (
    Complaint,
    InfeasibleError,
    InputError,
    MissingFactError,
    NotSupportedError,
    SolverError,
)
from tests.cli.conftest import FakeApi, Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("failure", "code", "say"),
    [
        (
            InputError([Complaint("c.yaml", 3, "limits.deadline", "24 has no unit", "30s, 2.5h", "24h")]),
            2,
            "error: c.yaml:3",
        ),
        (MissingFactError("GPU 'X1'", "its memory", "name another"), 2, "GPU 'X1'"),
        (NotSupportedError("job.algorithm", "vla comes later"), 2, "job.algorithm"),
        (InfeasibleError("no plan"), 3, "no plan: no plan"),
        (SolverError("the audit failed"), 1, "internal fault: the audit failed"),
        (PermissionError(13, "Permission denied", "c.yaml"), 2, "error: c.yaml: Permission denied"),
        (ZeroDivisionError("division by zero"), 1, "RLOPT_DEBUG=1"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_failure_is_one_block_and_a_code(
    api: FakeApi, rlopt_run: Run, request_file: Path, failure: BaseException, code: int, say: str
) -> None:
    api.failure = failure  # type: ignore[assignment]
    result = rlopt_run("solve", request_file, "--json")
    assert result.code == code
    assert result.out == ""
    assert say in result.err
    assert "Traceback" not in result.err


def test_all_complaints_are_shown_at_once(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    api.failure = InputError([Complaint("c.yaml", line, f"job.k{line}", "unknown key") for line in (3, 7)])
    err = rlopt_run("check", request_file).err
    assert err.startswith("2 errors:\n")
    assert "c.yaml:3: job.k3" in err
    assert "c.yaml:7: job.k7" in err


def test_developers_can_ask_for_the_traceback(
    api: FakeApi, rlopt_run: Run, request_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLOPT_DEBUG", "1")
    api.failure = ZeroDivisionError("division by zero")
    result = rlopt_run("solve", request_file)
    assert result.code == 1
    assert "Traceback" in result.err
