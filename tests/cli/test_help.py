"""Help: there for every command, with an example, and quick."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import click
import pytest

import rlopt
from rlopt.cli.entry import COMMANDS, command_line
from rlopt.cli.options import BACKENDS

HELP_SECONDS = 0.3
SLOW_MACHINE = 5.0
"""Factor granted to machines that are busy or old."""


def every_command(command: click.Command = command_line, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Walk the tree of commands."""
    yield path
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from every_command(child, (*path, name))


def test_commands_of_the_interface_are_there() -> None:
    names = [command.name for command in COMMANDS]
    assert names == [
        "init", "check", "solve", "frontier", "explain", "diff", "compare",
        "evaluate", "review", "validate", "calibrate", "catalog", "export", "schema",
    ]  # fmt: skip


@pytest.mark.parametrize("path", list(every_command()), ids=" ".join)
def test_every_help_has_an_example(path: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rlopt", *path, "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    example = done.stdout.split("Example:")[1].splitlines()[1].strip()
    assert example.startswith(" ".join(("rlopt", *path)))


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    heavy = ("numpy", "pydantic", "pulp", "ortools", "highspy", "rich", "ruamel", "scipy", "matplotlib")
    code = (
        "import sys; from rlopt.cli.entry import run; run(['--help']); "
        f"loaded = [name for name in {heavy!r} if name in sys.modules]; "
        "sys.exit(str(loaded) if loaded else 0)"
    )
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
        best = min(best, time.perf_counter() - start)
        assert done.returncode == 0, done.stderr
    assert best <= HELP_SECONDS * SLOW_MACHINE


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    from rlopt.cli.entry import run

    assert run(["--version"]) == 0
    assert capfd.readouterr().out == f"rlopt {rlopt.__version__}\n"


def test_backends_are_those_of_the_solvers_room() -> None:
    from rlopt.solvers import BACKENDS as MODULES

    assert {module.NAME for module in MODULES} == set(BACKENDS)
