"""A command line whose answers are known: `rlopt.api` replaced by plans made by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rlopt
from rlopt.answers.explanation import Explanation
from rlopt.answers.plan import Frontier, Plan
from rlopt.cli.entry import run
from rlopt.facts.catalog import Catalog
from tests.reports import catalogs, explanations, plans


@dataclass
class Result:
    """What one run left behind."""

    code: int
    out: str
    err: str


class Asked(str):
    """A request, as far as commands look into it."""

    presets = ("grpo",)
    objective = "cost"


@dataclass
class FakeApi:
    """Answers with `plan` and `curve`, and keeps what it was asked."""

    plan: Plan = field(default_factory=plans.optimal)
    curve: Frontier = field(default_factory=plans.frontier)
    why: Explanation = field(default_factory=explanations.of_plan)
    failure: Exception | None = None
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def _note(self, name: str, **asked: Any) -> None:
        self.calls.append((name, asked))
        if self.failure is not None:
            raise self.failure

    def load(self, path: Path, overrides: tuple[str, ...] = ()) -> str:
        self._note("load", path=path, overrides=overrides)
        return Asked("request")

    def solve(
        self,
        request: str,
        backend: str = "pulp",
        time_limit: float | None = None,
        stress: tuple[float, ...] = (),
        stress_load: tuple[float, ...] = (),
    ) -> Plan:
        asked = {name: value for name, value in (("stress", stress), ("stress_load", stress_load)) if value}
        self._note("solve", request=request, backend=backend, time_limit=time_limit, **asked)
        return self.plan

    def frontier(self, request: str, points: int = 20, backend: str = "pulp") -> Frontier:
        self._note("frontier", request=request, points=points, backend=backend)
        return self.curve

    def explain(self, request: str, backend: str = "pulp") -> Explanation:
        self._note("explain", request=request, backend=backend)
        return self.why

    def check(self, path: Path, overrides: tuple[str, ...] = ()) -> list[str]:
        self._note("check", path=path, overrides=overrides)
        return ["steps: 600", "sequences per step: 1024"]

    def init_text(self, algorithm: str, model: str | None = None) -> str:
        self._note("init_text", algorithm=algorithm, model=model)
        return f"version: 1\njob: {{algorithm: {algorithm}, models: {{policy: {model}}}}}\n"

    def catalog(self) -> Catalog:
        return catalogs.catalog()

    def schema(self) -> dict[str, Any]:
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    """Replace `rlopt.api` for one test."""
    fake = FakeApi()
    module = ModuleType("rlopt.api")
    for name in ("load", "solve", "frontier", "explain", "check", "init_text", "schema", "catalog"):
        setattr(module, name, getattr(fake, name))
    monkeypatch.setitem(sys.modules, "rlopt.api", module)
    monkeypatch.setattr(rlopt, "api", module, raising=False)
    return fake


@pytest.fixture
def rlopt_run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run one command line in this process."""

    def command(*arguments: object) -> Result:
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return command


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    """Make a file that exists; what is in it does not matter to the replaced api."""
    path = tmp_path / "constraints.yaml"
    path.write_text("version: 1\n", encoding="utf-8")
    return path
