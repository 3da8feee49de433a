"""Write requirements.lock, requirements-test.lock and requirements-launchers.lock from pyproject.toml.

Resolves in a new virtual environment, so that nothing but the declared dependencies can enter. The first
lock holds what rlopt needs to run plus its build backend (the in-place install is made without a network);
the second adds the extras test and docs, since the suite builds the site. The third holds the extra
launchers for an environment of its own: the launchers themselves by their exact pins, without what they
depend on, and the rest resolved. Run it as ``python scripts/lock.py`` after changing a dependency, or as
``python scripts/lock.py launchers`` for the third alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "# Written by scripts/lock.py from pyproject.toml; do not edit by hand.\n"


def main() -> None:
    """Resolve the sets and write their files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = project["project"]["dependencies"] + project["build-system"]["requires"]
    extras = project["project"]["optional-dependencies"]
    _write("requirements-launchers.lock", _launchers(extras["launchers"]))
    if "launchers" in sys.argv[1:]:
        return
    test = [*extras["test"], *extras["docs"]]
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pinned = _install_and_freeze(python, runtime)
        both = _install_and_freeze(python, [*pinned, *test])
    _write("requirements.lock", pinned)
    _write("requirements-test.lock", ["-r requirements.lock", *(pin for pin in both if pin not in pinned)])


def _launchers(requirements: list[str]) -> list[str]:
    """Exact pins as they are, since they stand alone; everything else resolved with what it depends on."""
    alone = [one for one in requirements if "==" in one]
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        rest = _install_and_freeze(
            str(Path(folder) / "bin" / "python"), [one for one in requirements if one not in alone]
        )
    return sorted([*alone, *rest], key=str.lower)


def _install_and_freeze(python: str, requirements: list[str]) -> list[str]:
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-qq", *requirements], check=True)
    frozen = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True).stdout
    return sorted(frozen.splitlines(), key=str.lower)


def _write(name: str, lines: list[str]) -> None:
    (ROOT / name).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{name}: {len(lines)} lines\n")


if __name__ == "__main__":
    main()
