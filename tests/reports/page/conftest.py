"""One browser and one set of pages for all tests of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rlopt.answers.plan import Frontier, Plan
from rlopt.language import use
from rlopt.reports.page import Given, page
from tests.reports import plans
from tests.reports.page.browsing import FLAGS, MISSING, REQUIRED, VARIABLE, find_browser
from tests.reports.rich_plans import mixed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEEDS = ((0.7, 1490.0), (4.0, 1100.0), (9.5, 760.0), (10.1, 700.0), (40.0, 580.0))
"""Hours and totals of plans beside the one asked for."""
REQUEST = "version: 1\nextends: [grpo]\n" + "".join(f"# line {number} of a long request\n" for number in range(60))
GIVEN = Given("job.yaml", REQUEST, ("base", "grpo"), ("limits.deadline=24h",))


def at(plan: Plan, hours: float, usd: float) -> Plan:
    """Take the same plan at another speed and price, its one line of the bill being all of it."""
    document = plan.document()
    line = document["cost"]["lines"][0] | {"usd": usd}
    return Plan.model_validate({
        **document,
        "cost": {"total_usd": usd, "lines": [line]},
        "time": document["time"] | {"confident_hours": hours, "expected_hours": hours * 0.85},
    })  # fmt: skip


def certain(plan: Plan) -> Plan:
    """Add how sure it is, and one near-optimal plan on other machines."""
    sure: dict[str, Any] = {"confidence": 0.9, "low_usd": 540.0, "high_usd": 800.0, "low_hours": 13.0}
    sure |= {"high_hours": 22.0, "deadline_probability": 0.948}
    other = at(plans.optimal(), 21.0, 630.0).document()
    return Plan.model_validate({**plan.document(), "certainty": sure, "alternatives": [other]})


@pytest.fixture(scope="session")
def answers() -> dict[str, tuple[Plan, Frontier | None]]:
    """Give answers of every kind, by name."""
    asked = certain(plans.optimal())
    points = sorted(
        [*(at(plans.optimal(), *speed) for speed in SPEEDS), asked], key=lambda one: one.time.confident_hours
    )
    return {
        "choice": (asked, Frontier(points=points, knee=3)),
        "pools": (mixed(), None),
        "infeasible": (plans.infeasible(), None),
    }


@pytest.fixture(scope="session")
def pages(
    answers: dict[str, tuple[Plan, Frontier | None]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Write their pages, the first in Chinese too."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, (plan, curve) in answers.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(page(plan, GIVEN, curve), encoding="utf-8")
    with use("zh"):
        found["zh"] = folder / "zh.html"
        found["zh"].write_text(page(*(answers["choice"][0], GIVEN, answers["choice"][1])), encoding="utf-8")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start a browser, or say what to install."""
    path = find_browser()
    if path is None:
        if os.environ.get(VARIABLE) == REQUIRED:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    if os.environ.get(VARIABLE) != REQUIRED:
        pytest.importorskip("playwright.sync_api")
    sync = import_module("playwright.sync_api")
    with sync.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()
