"""The published requests solved once for the whole module: plans, exit codes and what people expect of them."""

from __future__ import annotations

import csv
import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rlopt import api
from rlopt.answers.explanation import Explanation
from rlopt.answers.plan import Plan
from rlopt.facts import Catalog
from rlopt.request import Request
from rlopt.studies.cheapest import cheapest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
REQUESTS = ROOT / "examples" / "requests"
NAMES = tuple(sorted(path.stem for path in REQUESTS.glob("*.yaml")))
INFEASIBLE = ("15", "16", "17")
FEASIBLE = tuple(name for name in NAMES if name[:2] not in INFEASIBLE)
EXIT = {"optimal": 0, "feasible": 4, "infeasible": 3}


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = _module(DATA / "check.py")


def name_of(number: str) -> str:
    """Full name of a request by its number."""
    return next(name for name in NAMES if name.startswith(f"{number}-"))


def rows(table: str, name: str) -> list[dict[str, str]]:
    """Rows of a table in tests/data that speak of one request."""
    with (DATA / table).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["id"] == name]


@lru_cache(maxsize=64)
def request(name: str, *overrides: str) -> Request:
    """A request, with ``key=value`` changes."""
    return api.load(REQUESTS / f"{name}.yaml", overrides)


@lru_cache(maxsize=64)
def solved(name: str, *overrides: str, backend: str = "pulp") -> Plan:
    """The plan of a request."""
    return api.solve(request(name, *overrides), backend=backend, short_frontier=False)


def solved_with(changed: Request, facts: Catalog | None = None) -> Plan:
    """The plan of a request that was changed in Python, or under other facts."""
    return api.solve(changed, facts=facts, short_frontier=False)


def status(changed: Request) -> str:
    """Whether there is a plan, without the work of saying what would help where there is none."""
    return str(cheapest(api.problem_of(changed), "pulp", None).status)


@lru_cache(maxsize=8)
def explained(name: str, *overrides: str) -> Explanation:
    """Why the plan of a request is what it is, or why there is none."""
    return api.explain(request(name, *overrides))


@lru_cache(maxsize=8)
def frontier(name: str) -> dict[str, Any]:
    """The frontier document of a request."""
    return dict(api.frontier(request(name)).document())


def outcomes(name: str) -> list[tuple[dict[str, str], str, Any]]:
    """Every expectation of a request with what became of it: pass, FAIL, skipped, vacuous or no data."""
    plan = solved(name)
    wanted = rows("expectations.csv", name)
    needs_frontier = any(row["plan_path"].startswith("frontier:") for row in wanted)
    found = CHECK.run(wanted, plan.document(), EXIT[plan.status], frontier(name) if needs_frontier else None)
    return list(found)


def total(plan: Plan) -> float:
    """Total USD; infinite where there is no plan, so that "never dearer" reads as it should."""
    return float("inf") if plan.cost is None else plan.cost.total_usd
