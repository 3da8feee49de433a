"""One battery that every backend runs: known optima, brute force, tolerance traps, sizes, silence."""

from __future__ import annotations

import itertools
import math
import random
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from rlopt.errors import SolverError
from rlopt.program import Program, Row, Sense, binary_program, dense_row
from rlopt.solvers import BACKENDS, backend, solve

PROOF = 1e-6


@pytest.fixture(params=BACKENDS, ids=lambda module: module.NAME)
def engine(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.param
    assert module.available()
    return module


def row(values: list[float], sense: Sense, limit: float, name: str = "row") -> Row:
    return dense_row(name, "test", "", np.array(values, dtype=np.float64), sense, limit)


def program(objective: list[float], *rows: Row) -> Program:
    return binary_program(np.array(objective, dtype=np.float64), tuple(rows))


def optimum(found: Program) -> float:
    """Least objective over all zero-one points, inf where none holds every row."""
    best = math.inf
    for point in itertools.product((0.0, 1.0), repeat=found.size):
        values = np.array(point)
        if not found.violated(values):
            best = min(best, found.cost(values))
    return best


def test_a_knapsack_with_a_known_optimum(engine: ModuleType) -> None:
    # values 60, 100, 120 at weights 10, 20, 30 in 50: the last two, worth 220
    outcome = solve(program([-60, -100, -120], row([10, 20, 30], "<=", 50)), engine)
    assert outcome.termination == "optimal"
    assert outcome.objective == pytest.approx(-220, rel=PROOF)
    assert outcome.values is not None
    assert outcome.values.tolist() == [0, 1, 1]
    assert outcome.bound == pytest.approx(-220, rel=PROOF)


def test_an_assignment_with_a_known_optimum(engine: ModuleType) -> None:
    # costs [[4, 1, 3], [2, 0, 5], [3, 2, 2]]: 1 + 2 + 2 = 5
    costs = [4, 1, 3, 2, 0, 5, 3, 2, 2]
    rows = []
    for i in range(3):
        rows.append(row([1.0 if j // 3 == i else 0.0 for j in range(9)], "==", 1, f"person{i}"))
        rows.append(row([1.0 if j % 3 == i else 0.0 for j in range(9)], "==", 1, f"work{i}"))
    outcome = solve(program([float(c) for c in costs], *rows), engine)
    assert outcome.termination == "optimal"
    assert outcome.objective == pytest.approx(5, rel=PROOF)


def test_two_rows_that_exclude_each_other(engine: ModuleType) -> None:
    outcome = solve(program([1, 2], row([1, 1], "==", 1), row([1, 1], ">=", 2)), engine)
    assert outcome.termination == "infeasible"
    assert outcome.values is None
    assert outcome.objective is None
    assert outcome.bound == math.inf


def test_an_equality_with_fractions(engine: ModuleType) -> None:
    # 0.1 + 0.2 = 0.3 in decimals, a hair more in binary: the only pair that makes 0.3
    outcome = solve(program([1, 1, 5], row([0.1, 0.2, 0.25], "==", 0.3)), engine)
    assert outcome.objective == pytest.approx(2, rel=PROOF)


def test_an_equality_that_no_point_meets(engine: ModuleType) -> None:
    assert solve(program([1, 1], row([0.3, 0.4], "==", 0.5)), engine).termination == "infeasible"


def test_a_row_without_variables(engine: ModuleType) -> None:
    # a floor that no column reaches leaves a row of zeros
    assert solve(program([1, 2], row([1, 1], "==", 1), row([0, 0], ">=", 1)), engine).termination == "infeasible"
    harmless = solve(program([1, 2], row([1, 1], "==", 1), row([0, 0], "<=", 1)), engine)
    assert harmless.objective == pytest.approx(1, rel=PROOF)


def test_an_objective_of_zeros(engine: ModuleType) -> None:
    outcome = solve(program([0, 0], row([1, 1], "==", 1)), engine)
    assert outcome.termination == "optimal"
    assert outcome.objective == 0


@pytest.mark.parametrize("over", [1e-7, 1e-6, 1e-4])
def test_a_column_an_instant_past_the_deadline_does_not_pass(engine: ModuleType, over: float) -> None:
    hours = [10 + over, 9.0]
    late = program([1, 5], row([1, 1], "==", 1), row(hours, "<=", 10, "deadline"))
    outcome = solve(late, engine)
    assert outcome.values is not None
    assert outcome.values.tolist() == [0, 1]
    assert outcome.objective == pytest.approx(5, rel=PROOF)


def test_a_column_on_the_deadline_passes(engine: ModuleType) -> None:
    hours = 1 / 3 + 7.1
    outcome = solve(program([1, 5], row([1, 1], "==", 1), row([hours, 2.0], "<=", hours)), engine)
    assert outcome.objective == pytest.approx(1, rel=PROOF)


def test_a_column_an_instant_under_a_floor_does_not_pass(engine: ModuleType) -> None:
    outcome = solve(program([1, 5], row([1, 1], "==", 1), row([0.3 - 1e-7, 0.3], ">=", 0.3)), engine)
    assert outcome.objective == pytest.approx(5, rel=PROOF)


def test_many_columns_an_instant_late_beside_one_very_late(engine: ModuleType) -> None:
    # one column of a million hours must not blur the others
    late = [100 + 1e-6 * (j + 1) for j in range(40)]
    hours = [*late, 1e6, 100.0]
    objective = [*(1.0 + 0.01 * j for j in range(40)), 0.5, 9.0]
    outcome = solve(program(objective, row([1.0] * 42, "==", 1), row(hours, "<=", 100)), engine)
    assert outcome.objective == pytest.approx(9, rel=PROOF)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e6, 1e9])
def test_the_optimum_scales_with_the_prices(engine: ModuleType, scale: float) -> None:
    prices = np.array([31.4159265, 27.1828182, 27.1828187]) * scale
    outcome = solve(program(prices.tolist(), row([1, 1, 1], "==", 1)), engine)
    assert outcome.termination == "optimal"
    assert outcome.objective == pytest.approx(27.1828182 * scale, rel=PROOF)
    assert outcome.bound == pytest.approx(27.1828182 * scale, rel=PROOF)


def test_cents_beside_millions(engine: ModuleType) -> None:
    outcome = solve(program([4e6, 0.0123, 0.0124], row([1, 1, 1], "==", 1)), engine)
    assert outcome.objective == pytest.approx(0.0123, rel=PROOF)
    assert outcome.bound == pytest.approx(0.0123, rel=PROOF)


@pytest.mark.parametrize("size", [5_000, 40_000])
def test_thousands_of_columns(engine: ModuleType, size: int) -> None:
    draw = np.random.default_rng(7)
    cost, hours = draw.uniform(8e4, 1e5, size), draw.uniform(1, 200, size)
    gpus = draw.integers(1, 64, size).astype(np.float64) * 8
    rows = (
        dense_row("choice", "choice", "", np.ones(size), "==", 1),
        dense_row("deadline", "deadline", "", hours, "<=", 40),
        dense_row("gpus", "gpus", "", gpus, "<=", 64),
    )
    outcome = solve(binary_program(cost, rows), engine)
    assert outcome.termination == "optimal"
    assert outcome.objective == pytest.approx(cost[(hours <= 40) & (gpus <= 64)].min(), rel=PROOF)


def test_no_more_time_says_so_and_claims_no_proof(engine: ModuleType) -> None:
    # a multi-dimensional knapsack that takes far longer than the limit
    draw = np.random.default_rng(3)
    size = 400
    rows = tuple(
        dense_row(f"r{i}", "r", "", weights, "<=", float(weights.sum() / 2))
        for i, weights in enumerate(draw.integers(1, 10_000, (40, size)).astype(np.float64))
    )
    hard = binary_program(-draw.integers(1, 10_000, size).astype(np.float64), rows)
    outcome = solve(hard, engine, time_limit=0.5)
    assert outcome.termination == "time_limit"
    assert outcome.seconds < 10
    if outcome.objective is not None:
        assert outcome.bound < outcome.objective - PROOF * abs(outcome.objective)
        assert outcome.values is not None
        assert not hard.violated(outcome.values)


def test_nothing_is_printed(engine: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    print("before")  # noqa: T201
    solve(program([-60, -100, -120], row([10, 20, 30], "<=", 50)), engine)
    solve(program([1], row([1], ">=", 2)), engine)
    print("after")  # noqa: T201
    sys.stdout.flush()
    captured = capfd.readouterr()
    assert captured.out == "before\nafter\n"
    assert captured.err == ""


def test_the_same_program_twice_gives_the_same_answer(engine: ModuleType) -> None:
    again = _random_program(11)
    first, second = solve(again, engine), solve(again, engine)
    assert first.objective == second.objective


def test_integers_beyond_one(engine: ModuleType) -> None:
    # 3x + 5y >= 17, x <= 4, y <= 3, least 2x + 4y: x = 4, y = 1 costs 12; x = 1, y = 3 costs 14
    counts = replace(program([2, 4], row([3, 5], ">=", 17)), upper=np.array([4.0, 3.0]))
    outcome = solve(counts, engine)
    assert outcome.objective == pytest.approx(12, rel=PROOF)
    assert outcome.values is not None
    assert outcome.values.tolist() == [4, 1]


def _random_program(seed: int) -> Program:
    draw = random.Random(seed)
    size = draw.randint(3, 9)
    rows = []
    for number in range(draw.randint(1, 4)):
        kind = draw.random()
        if kind < 0.25:
            chosen = [float(draw.random() < 0.6) for _ in range(size)]
            rows.append(row(chosen, "==", 1, f"r{number}"))
        else:
            signed = draw.random() < 0.3
            values = [draw.uniform(-5 if signed else 0, 10) * (draw.random() < 0.8) for _ in range(size)]
            sense: Sense = "<=" if draw.random() < 0.6 else ">="
            rows.append(row(values, sense, draw.uniform(1, 20), f"r{number}"))
    return program([draw.uniform(-20, 50) for _ in range(size)], *rows)


@pytest.mark.parametrize("shard", range(4))
def test_random_programs_against_brute_force(engine: ModuleType, shard: int) -> None:
    for seed in range(shard, 100, 4):
        here = _random_program(seed)
        best, outcome = optimum(here), solve(here, engine)
        if math.isinf(best):
            assert outcome.termination == "infeasible", seed
        else:
            assert outcome.termination == "optimal", seed
            assert outcome.objective == pytest.approx(best, rel=PROOF, abs=1e-6), seed
            assert outcome.bound <= best + PROOF * max(1.0, abs(best)), seed


def test_the_random_programs_are_of_both_kinds() -> None:
    found = [math.isinf(optimum(_random_program(seed))) for seed in range(100)]
    assert 10 <= sum(found) <= 70


def test_an_unknown_backend_is_named_with_those_there_are() -> None:
    with pytest.raises(SolverError, match="pulp, ortools"):
        backend("cplex")


def test_continuous_variables_are_refused_by_the_integer_backend() -> None:
    relaxed = replace(program([1], row([1], ">=", 1)), integer=np.zeros(1, dtype=np.bool_))
    with pytest.raises(SolverError, match="integer"):
        solve(relaxed, backend("ortools"))
    assert solve(relaxed, backend("pulp")).objective == pytest.approx(1, rel=PROOF)


def test_unbounded_variables_are_refused(engine: ModuleType) -> None:
    unbounded = replace(program([1], row([1], ">=", 1)), upper=np.array([np.inf]))
    with pytest.raises(SolverError):
        solve(unbounded, engine)
