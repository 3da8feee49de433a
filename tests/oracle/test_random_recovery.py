"""The same for what keeps a run alive: collapses, waits, spare nodes, elastic pools, copied responses, pilots."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rlopt.problem import Pools, Problem, RecoveryOption
from rlopt.request.job.waiting import CutOff, Pilots
from rlopt.search import dominance, mixed_search
from rlopt.search.exhaustive import every_column, exhaustive, pareto
from rlopt.studies.cheapest import cheapest
from rlopt.studies.frontier import frontier_columns
from tests.costs.random_bills import random_bill
from tests.oracle.problems import random_problem

PROBLEMS, SHARDS = 64, 4


def random_recovery(seed: int, mixes: bool = False) -> Problem:
    """The random problem of a seed, every other one with the rest of the bill, and random keys of recovery.

    Machines stop more often than real ones, so that all of it matters.
    """
    problem = random_bill(seed, mixes) if seed % 2 else random_problem(seed, mixes=mixes)
    rng = random.Random(seed + 11)
    request, offers = problem.request, len(problem.market.offers)
    spares = rng.choice([(0,), (0, 1), (0, 1, 2), (1,)])
    copied = rng.choice([(0,), (0, 50), (100,)])
    if rng.random() < 0.4:
        request = request.replaced("floors.checkpoints.history_every", None)
    for key in ("limits.deadline", "limits.budget", "limits.hourly_budget", "limits.max_gpus"):
        if rng.random() < 0.6:  # most of these runs would be too dear or too late
            request = request.replaced(key, None)
    if rng.random() < 0.5:
        wait, people = rng.uniform(0.5, 4.0) * 3600.0, rng.choice([0.0, 0.5])
        request = request.replaced("limits.deadline_from", rng.choice(["provisioning", "request"]))
        problem = replace(problem, wait_hours=np.array([rng.choice([0.0, wait / 3600.0]) for _ in range(offers)]))
        request = request.replaced("costs.waiting_people", people)
    for key, chance, value in (
        ("job.divergences", 0.5, rng.uniform(0.2, 3.0)),
        ("job.pilots", 0.4, Pilots(runs=3, share=0.1, before_deadline=rng.random() < 0.5)),
        ("recovery.spare_nodes", 1.0, spares),
        ("checkpoint.rollouts", 1.0, copied),
        ("costs.hours_per_failure", 0.4, 0.5),
        ("costs.hours_per_trial", 0.4, 1.0),
        ("limits.cut_off", 0.3, CutOff(at=0.5, metric="reward", below=0.0, share=0.6)),
    ):
        if rng.random() < chance:
            request = request.replaced(key, value)

    def worn(pools: Pools) -> Pools:
        spans = np.array([rng.choice([1, int(nodes)]) for nodes in pools.nodes], dtype=np.int64)
        scale = rng.choice([1.0, 5.0, 10.0])
        return replace(pools, nodes_per_replica=spans, failures_per_hour=pools.failures_per_hour * scale)

    tables = {name: worn(getattr(problem, name)) for name in ("training", "rollout", "scoring", "colocated")}
    if rng.random() < 0.8:  # stops wait for a good part of the time between two of them
        waits = rng.uniform(0.2, 0.8) / float(np.median(tables["training"].failures_per_hour))
        request = request.replaced("recovery.replace_wait", waits * 3600.0)
    return replace(
        problem,
        request=request,
        recovery_options=tuple(
            RecoveryOption(spare_nodes=spare, rollouts_every=every)
            for spare, every in product(sorted(request.recovery.spare_nodes), request.checkpoint.rollouts)
        ),
        elastic=rng.random() < 0.5,
        faults_per_node=rng.choice([None, np.full(offers, 0.0004)]),
        **tables,
    )


@pytest.mark.parametrize("shard", range(SHARDS))
def test_search_and_solvers_find_what_enumeration_finds(shard: int) -> None:
    solved = 0
    for seed in range(shard, PROBLEMS, SHARDS):
        problem = random_recovery(seed, mixes=seed % 6 == 0)
        best = exhaustive(problem)
        for backend in ("pulp", "ortools"):
            plan = cheapest(problem, backend)  # its audit would raise
            assert (plan.cost is None) == (best is None), (seed, backend)
            if best is not None and plan.cost is not None:
                assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), (seed, backend, best.column)
                solved += 1
    assert solved >= 8


def test_the_frontier_is_the_pareto_set() -> None:
    for seed in range(0, PROBLEMS, 3):
        problem = random_recovery(seed, mixes=seed % 12 == 0)
        columns = frontier_columns(problem).columns
        found = np.array(list(zip(columns.confident_hours, columns.usd, strict=True))).reshape(-1, 2)
        assert found == pytest.approx(np.array(pareto(problem)).reshape(-1, 2), rel=1e-9), seed


def test_leaving_beaten_pools_out_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "FEW", 0)
    monkeypatch.setattr(mixed_search, "MANY", 0)
    dropped = 0
    for seed in range(3000, 3050):
        problem = random_recovery(seed, mixes=seed % 4 == 0)
        plan, best = cheapest(problem), exhaustive(problem)
        assert (plan.cost is None) == (best is None), seed
        if best is not None and plan.cost is not None:
            assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-9), seed
        dropped += plan.solver.excluded.get("dominated by other pools", 0)
    assert dropped > 20


def test_each_way_is_the_best_of_some_problem() -> None:
    seen = Counter[str]()
    for seed in range(PROBLEMS):
        problem = random_recovery(seed)
        best = exhaustive(problem)
        if best is None:
            continue
        columns = every_column(problem)
        recovery = problem.recovery_options[int(columns.recovery[int(np.nanargmin(np.abs(columns.usd - best.usd)))])]
        open_spares = len(problem.request.recovery.spare_nodes) > 1
        seen[f"spares {min(recovery.spare_nodes, 1)}"] += open_spares
        if len(problem.request.checkpoint.rollouts) > 1:
            seen[f"copied {bool(recovery.rollouts_every)}"] += 1
    assert min(seen[name] for name in ("spares 0", "spares 1", "copied False", "copied True")) >= 1, seen
