"""The locks pin all that is declared, and the environment under test is what they say."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def pins(path: Path) -> dict[str, str]:
    """Read ``name==version`` lines; other lines may only be comments or a reference to the other lock."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or line == "-r requirements.lock":
            continue
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line)
        assert match, f"{path.name}: {line!r} is no pin"
        found[canonicalize_name(match[1])] = match[2]
    return found


def test_every_declared_dependency_is_pinned_within_its_range(root: Path, project: dict[str, Any]) -> None:
    runtime = pins(root / "requirements.lock")
    test = runtime | pins(root / "requirements-test.lock")
    declared = project["project"]["dependencies"] + project["build-system"]["requires"]
    extras = project["project"]["optional-dependencies"]
    for lock, requirements in ((runtime, declared), (test, extras["test"]), (test, extras["docs"])):
        for text in requirements:
            requirement = Requirement(text)
            pinned = lock.get(canonicalize_name(requirement.name))
            assert pinned is not None, text
            assert requirement.specifier.contains(pinned), f"{text} is pinned to {pinned}"


def test_the_launchers_are_pinned_with_what_is_installed_beside_them(root: Path, project: dict[str, Any]) -> None:
    pinned = pins(root / "requirements-launchers.lock")
    for text in project["project"]["optional-dependencies"]["launchers"]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text
    heavy = {"torch", "ray", "vllm", "deepspeed", "tensordict", "datasets", "pandas"}
    assert not heavy & set(pinned)


def test_the_two_locks_do_not_repeat_each_other(root: Path) -> None:
    assert not pins(root / "requirements.lock").keys() & pins(root / "requirements-test.lock").keys()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_this_environment_is_what_the_lock_says(root: Path, name: str) -> None:
    installed = {pin: metadata.version(pin) for pin in pins(root / name)}
    assert installed == pins(root / name)
