"""./run and ./test: pip is asked once, and not again until something changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FAKE_PYTHON = '#!/bin/sh\nprintf "%s\\n" "$*" >>"$CALLS"\n'


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """Make a checkout whose environment has a Python that only writes down how it is called."""
    copy = tmp_path / "a checkout"
    (copy / "scripts").mkdir(parents=True)
    for name in ("run", "test", "scripts/environment.sh"):
        shutil.copy(root / name, copy / name)
    for name in ("requirements.lock", "requirements-test.lock", "pyproject.toml"):
        (copy / name).write_text(name, encoding="utf-8")
    (copy / "requirements-launchers.lock").write_text("a==1\nverl==2\n", encoding="utf-8")
    python = copy / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(FAKE_PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return copy


def calls(checkout: Path, *command: str, **more: str) -> list[str]:
    """Run a script of the checkout from elsewhere and return what its Python was asked, checks left out."""
    log = checkout / "calls"
    log.write_text("", encoding="utf-8")
    environment = {**os.environ, "CALLS": str(log), **more}
    subprocess.run(
        [str(checkout / command[0]), *command[1:]],
        cwd=checkout.parent,
        env=environment,
        check=True,
        capture_output=True,
        timeout=60,
    )
    asked = log.read_text(encoding="utf-8").splitlines()
    return [line for line in asked if not line.startswith("-c")]


def test_first_run_installs_the_lock_then_the_program(checkout: Path) -> None:
    lock, itself, program = calls(checkout, "run", "solve", "x.yaml")
    assert lock.startswith("-m pip install")
    assert lock.endswith("a checkout/requirements.lock")
    assert "--no-build-isolation -e" in itself
    assert program == "-m rlopt solve x.yaml"


def test_second_run_asks_pip_for_nothing(checkout: Path) -> None:
    calls(checkout, "run")
    assert calls(checkout, "run", "schema") == ["-m rlopt schema"]


@pytest.mark.parametrize("changed", ["requirements.lock", "requirements-test.lock", "pyproject.toml"])
def test_a_change_is_installed(checkout: Path, changed: str) -> None:
    calls(checkout, "run")
    (checkout / changed).write_text("changed", encoding="utf-8")
    assert len(calls(checkout, "run")) == 3
    assert len(calls(checkout, "run")) == 1


def test_the_suites_environment_serves_both(checkout: Path) -> None:
    calls(checkout, "run")
    lock, _, pytest_call = calls(checkout, "test", "-k", "house", RLOPT_NO_LAUNCHERS="1")
    assert lock.endswith("requirements-test.lock")
    assert pytest_call.startswith("-m pytest -q")
    assert pytest_call.endswith("-k house")
    assert calls(checkout, "run", "schema") == ["-m rlopt schema"]


def test_the_launchers_parsers_are_installed_beside_it_without_what_they_depend_on(checkout: Path) -> None:
    *_, folder, installed, unpacked, pytest_call = calls(checkout, "test")
    assert folder == f"-m venv --without-pip {checkout}/.venv-launchers"
    assert "--no-deps" in installed
    assert installed.endswith(".venv-launchers/installed.txt")
    assert "--no-deps" in unpacked
    assert unpacked.endswith(f"--target {checkout}/.venv-launchers/unpacked -r {checkout}/.venv-launchers/unpacked.txt")
    assert (checkout / ".venv-launchers" / "installed.txt").read_text(encoding="utf-8") == "a==1\n"
    assert (checkout / ".venv-launchers" / "unpacked.txt").read_text(encoding="utf-8") == "verl==2\n"
    assert pytest_call.startswith("-m pytest -q")
    python = checkout / ".venv-launchers" / "bin" / "python"
    python.parent.mkdir()
    shutil.copy(checkout / ".venv" / "bin" / "python", python)
    assert len(calls(checkout, "test")) == 1
    (checkout / "requirements-launchers.lock").write_text("a==2\nverl==2\n", encoding="utf-8")
    assert len(calls(checkout, "test")) == 4


def test_launchers_that_cannot_be_installed_leave_the_suite_running(checkout: Path) -> None:
    calls(checkout, "test", RLOPT_NO_LAUNCHERS="1")
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(FAKE_PYTHON + 'case "$*" in *"install"*) exit 1 ;; esac\n', encoding="utf-8")
    assert calls(checkout, "test")[-1].startswith("-m pytest -q")
    assert not (checkout / ".venv-launchers" / "rlopt-environment").exists()


def test_a_moved_checkout_is_installed_anew(checkout: Path) -> None:
    calls(checkout, "run")
    moved = checkout.rename(checkout.with_name("moved"))
    assert len(calls(moved, "run")) == 3


def test_a_failed_install_is_not_taken_for_done(checkout: Path) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.write_text(FAKE_PYTHON + 'case "$*" in *"pip install"*) exit 1 ;; esac\n', encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        calls(checkout, "run")
    python.write_text(FAKE_PYTHON, encoding="utf-8")
    assert len(calls(checkout, "run")) == 3


@pytest.mark.parametrize("script", ["run", "test", ".ci/run", "scripts/environment.sh"])
def test_scripts_are_plain_shell(root: Path, script: str) -> None:
    subprocess.run(["sh", "-n", str(root / script)], check=True, timeout=60)
    assert script.endswith(".sh") or os.access(root / script, os.X_OK)
