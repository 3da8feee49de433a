"""Every published request: solved to a proof by both backends, or refused for the right reason."""

from __future__ import annotations

import pytest

from rlopt.answers.plan import Plan, Relaxation
from tests.examples import runs
from tests.examples.misses import MISSES


def test_examples_are_the_requests_under_test() -> None:
    kept = runs.DATA / "requests"
    assert {path.name for path in kept.iterdir()} == {path.name for path in runs.REQUESTS.iterdir()}
    for path in kept.iterdir():
        assert path.read_bytes() == (runs.REQUESTS / path.name).read_bytes(), path.name
    assert len(runs.FEASIBLE) == 15


@pytest.mark.parametrize("name", runs.FEASIBLE)
def test_both_backends_prove_the_same_optimum(name: str) -> None:
    plans = [runs.solved(name), runs.solved(name, backend="ortools")]
    for plan, backend in zip(plans, ("pulp", "ortools"), strict=True):
        assert (plan.status, plan.solver.backend) == ("optimal", backend)
        assert plan.solver.gap is not None
        assert plan.solver.gap <= 1e-6
        assert plan.cost is not None
        assert plan.cost.total_usd == pytest.approx(plan.solver.objective_usd, rel=1e-6)
    assert plans[1].solver.objective_usd == pytest.approx(plans[0].solver.objective_usd, rel=1e-6)


@pytest.mark.parametrize("name", [*runs.FEASIBLE, *(runs.name_of(number) for number in runs.INFEASIBLE)])
def test_expectations(name: str) -> None:
    failed = [(row, values) for row, state, values in runs.outcomes(name) if state == "FAIL"]
    hard = [
        f"{row['property']}: {row['plan_path']} {row['operator']} {row['value']}, got {values}"
        for row, values in failed
        if row["strength"] == "hard"
    ]
    assert hard == []
    missed = {(name[:2], row["property"]) for row, _ in failed}
    known = {key for key in MISSES if key[0] == name[:2]}
    assert missed - known == set(), "a new miss: mend it, or explain it in misses.py"
    assert known - missed == set(), "no longer missed: take it out of misses.py"


@pytest.mark.parametrize("name", [*runs.FEASIBLE, *(runs.name_of(number) for number in runs.INFEASIBLE)])
def test_every_expectation_has_data(name: str) -> None:
    states = [state for _, state, _ in runs.outcomes(name)]
    assert "no data" not in states
    assert states.count("pass") > 5


@pytest.mark.parametrize("name", [*runs.FEASIBLE, *(runs.name_of(number) for number in runs.INFEASIBLE)])
def test_plan_survives_its_json(name: str) -> None:
    plan = runs.solved(name)
    assert Plan.model_validate_json(plan.model_dump_json(by_alias=True)) == plan
    assert Plan.model_validate(plan.document()) == plan


@pytest.mark.parametrize(
    ("number", "blamed"), [("15", "limits.deadline"), ("16", "limits.max_gpus"), ("17", "limits.budget")]
)
def test_infeasible_requests_blame_the_right_limit(number: str, blamed: str) -> None:
    plans = [runs.solved(runs.name_of(number), backend=backend) for backend in ("pulp", "ortools")]
    for plan in plans:
        assert (plan.status, plan.pools, plan.cost, plan.time) == ("infeasible", [], None, None)
    single = {change.constraint: change for change in plans[0].relaxations if isinstance(change, Relaxation)}
    assert blamed in single
    assert all(change.total_usd > 0 and change.hours > 0 for change in single.values())


def test_what_would_help_does_help() -> None:
    for number, key, unit in (("15", "limits.deadline", "h"), ("17", "limits.budget", " USD")):
        name = runs.name_of(number)
        change = next(c for c in runs.solved(name).relaxations if isinstance(c, Relaxation) and c.constraint == key)
        assert runs.status(runs.request(name, f"{key}={change.to * 1.0001:.6f}{unit}")) == "optimal"
        assert runs.status(runs.request(name, f"{key}={change.to * 0.999:.6f}{unit}")) == "infeasible"
