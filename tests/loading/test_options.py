"""Stores and preparation machines are decisions: each is the cheapest somewhere, and enumeration agrees."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

from rlopt import api
from rlopt.answers.plan import LoadDecision, Plan
from rlopt.assembly.audit import faults
from rlopt.costs import COSTS, bill, column_costs
from rlopt.problem import Pools, Problem
from rlopt.rules import rules_of
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column, exhaustive, opened, pareto
from rlopt.search.groups import Group
from rlopt.studies.cheapest import cheapest
from rlopt.studies.frontier import frontier_columns
from rlopt.words import COLOCATED
from tests.costs.test_twins import plan_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"
AWS = ("choices.providers=[aws]", "limits.max_gpus=8", "limits.deadline=20h")
SLOW = ("limits.deadline=300h", "limits.budget=90000 USD")
ANY_STORE = "choices.data_store=[object, filesystem, block]"


def problem(*changes: str) -> Problem:
    """A published request on machines of few kinds, with ``key=value`` changes."""
    return api.problem_of(api.load(EXAMPLES / "02-sft-llama3.1-8b-deadline.yaml", (*AWS, *changes)))


def plans(one: Problem) -> Plan:
    """The plan that both solvers and enumeration find."""
    plan, best = cheapest(one, "pulp"), exhaustive(one)
    assert plan.cost is not None
    assert best is not None
    other = cheapest(one, "ortools").cost
    assert other is not None
    assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-9)
    assert other.total_usd == pytest.approx(best.usd, rel=1e-9)
    assert faults(plan, one) == []
    return plan


def prepare(seconds: float, share: float = 0.1) -> str:
    return f"job.data.prepare={{vcpu_seconds_per_sample: {seconds}, host_share: {share}}}"


@pytest.mark.parametrize(
    ("seconds", "vcpus", "nodes", "stalls"),
    [(0.01, 0, 0, False), (0.2, 4, 2, False), (0.3, 8, 1, True), (1.0, 64, 1, False), (10.0, 512, 8, True)],
)
def test_none_few_and_many_machines_prepare_samples(seconds: float, vcpus: int, nodes: int, stalls: bool) -> None:
    made = plans(problem(prepare(seconds))).decisions
    assert made is not None
    assert made.load is not None
    assert (made.load.vcpus, made.load.nodes, made.load.stall_seconds > 0) == (vcpus, nodes, stalls)


@pytest.mark.parametrize(
    ("size", "given", "store"),
    [
        ("20TB", SLOW, "filesystem"),  # 51 GB a step from object storage at 1 GB/s: GPUs would wait five steps long
        ("2TB", (), "object"),
        ("5TB", ("choices.providers=[gcp]", *SLOW), "block"),
    ],
)
def test_each_store_is_the_cheapest_somewhere(size: str, given: tuple[str, ...], store: str) -> None:
    one = problem(*given, f"job.dataset_size={size}", "job.dataset_samples=200000", ANY_STORE)
    made = plans(one).decisions
    assert made is not None
    assert made.load is not None
    assert made.load.store == store
    assert (made.load.mounted is None) == (store == "object")


def test_loading_faster_than_training_changes_nothing() -> None:
    slow = cheapest(problem("costs.bytes_per_token=4"), "pulp")
    quick = cheapest(problem("costs.bytes_per_token=4", prepare(0.01)), "pulp")
    assert slow.cost == quick.cost
    assert slow.time is not None
    assert quick.time is not None
    assert slow.time.expected_hours == quick.time.expected_hours
    stage = quick.time.stages[0]
    assert (stage.stage, stage.seconds) == ("load", stage.hidden_seconds)
    assert stage.seconds > slow.time.stages[0].seconds


def test_work_and_stores_to_choose_from_never_make_a_plan_cheaper_or_dearer_than_they_should() -> None:
    def usd(*changes: str) -> float:
        cost = cheapest(problem(*changes), "pulp").cost
        assert cost is not None
        return cost.total_usd

    rising = [usd(prepare(seconds)) for seconds in (0.0, 0.2, 1.0, 4.0, 10.0)]
    assert rising == sorted(rising)
    assert rising[0] < rising[-1]
    large = ("job.dataset_size=20TB", "job.dataset_samples=200000", *SLOW)
    every = usd(*large, ANY_STORE)
    assert every == pytest.approx(min(usd(*large, f"choices.data_store=[{one}]") for one in ("object", "filesystem")))


def test_bounds_stay_below_every_way_to_load() -> None:
    one = opened(problem("job.dataset_size=2TB", "job.dataset_samples=200000", ANY_STORE, prepare(1.0)))
    every, bounds = every_column(one), Bounds.of(one)
    pools = one.colocated.take(every.train)
    own = pools.times.in_step
    group = Group(every.zone, every.variant, every.group_size)
    least = bounds.cost(COLOCATED, group, pools.rate, own.median, own.median * 0.0)
    assert len(every) > 5_000
    assert (least <= column_costs(every, one) * (1 + 1e-12)).all()
    hours = bounds.hours(COLOCATED, group, own.confident, own.median * 0.0)
    assert (hours <= every.confident_hours * (1 + 1e-12)).all()


def test_the_frontier_is_the_pareto_set() -> None:
    one = problem(prepare(10.0), "limits.max_gpus=16")
    columns = frontier_columns(one).columns
    found = sorted(zip(columns.confident_hours, columns.usd, strict=True))
    assert len(found) > 2
    assert np.array(found) == pytest.approx(np.array(pareto(one)), rel=1e-9)


def test_the_bill_and_the_rules_of_any_way_to_load_are_its_columns() -> None:
    one = opened(problem("job.dataset_size=20TB", "job.dataset_samples=200000", ANY_STORE, *SLOW, prepare(5.0)))
    columns = every_column(one)
    stores = set()
    for j in np.random.default_rng(7).choice(len(columns), 12, replace=False):
        plan, row = plan_of(columns, int(j), one), columns.take(slice(int(j), int(j) + 1))
        assert plan.decisions is not None
        assert plan.decisions.load is not None
        stores.add(plan.decisions.load.store)
        lines = bill(plan, one)
        for cost in COSTS:
            terms = math.fsum(float(usd[0]) for usd in cost.terms(row, one).values())
            billed = math.fsum(line.usd for line in lines if line.dimension == cost.DIMENSION)
            assert billed == pytest.approx(terms, rel=1e-9, abs=1e-9), (j, cost.DIMENSION)
        for rule in rules_of(one):
            if rule.amount is not None:
                assert rule.measure(plan, one) == pytest.approx(float(rule.amount(row, one)[0]), rel=1e-9), rule.name
        assert not any("load" in fault for fault in faults(plan, one))
    assert len(stores) >= 2


def test_what_is_dropped_is_no_better_in_anything() -> None:
    one = problem("job.dataset_size=5TB", "job.dataset_samples=200000", ANY_STORE, *SLOW, prepare(5.0))
    names = ("load_usd_per_hour", "mount_usd_per_hour", "disk_gb", "load_disk_gb")

    def rows(pools: Pools) -> dict[tuple[int, int], list[tuple[float, ...]]]:
        found: dict[tuple[int, int], list[tuple[float, ...]]] = {}
        values = (pools.times.in_step.median, pools.once.median, *(getattr(pools, name) for name in names))
        for n in range(len(pools)):
            key = (int(pools.offer[n]), int(pools.estimate[n]))
            found.setdefault(key, []).append(tuple(float(value[n]) for value in values))
        return found

    kept, every = rows(one.colocated), rows(opened(one).colocated)
    assert kept.keys() == every.keys()
    for key, all_of_them in every.items():
        best = {
            a
            for a in all_of_them
            if not any(b != a and all(y <= x for x, y in zip(a, b, strict=True)) for b in all_of_them)
        }
        assert set(kept[key]) == best
        assert len(kept[key]) == len(best)
    assert 0 < sum(map(len, kept.values())) < sum(map(len, every.values())) / 2


def test_an_audit_recomputes_loading() -> None:
    one = problem("job.dataset_size=20TB", "job.dataset_samples=200000", ANY_STORE, *SLOW, prepare(10.0))
    plan = cheapest(one, "pulp")
    assert faults(plan, one) == []
    assert plan.decisions is not None
    made = plan.decisions.load
    assert made is not None
    for key, value, said in (
        ("vcpus", made.vcpus // 2, "loading takes"),
        ("stall_seconds", made.stall_seconds + 1.0, "are hidden"),
        ("nodes", made.nodes + 1, "machines prepare samples"),
        ("gb", 10.0, "do not hold the data set"),
        ("mounted", "nowhere", "no store of the zone is called nowhere"),
    ):
        wrong = plan.decisions.model_copy(update={"load": made.model_copy(update={key: value})})
        assert any(said in fault for fault in faults(plan.model_copy(update={"decisions": wrong}), one)), key


def test_machines_of_a_plan_that_boot_from_volumes_are_counted_once() -> None:
    plan = cheapest(problem(prepare(10.0)), "pulp")
    assert plan.cost is not None
    [disks] = [line for line in plan.cost.lines if line.item == "disks"]
    assert "10 machines, each boots from 30 GiB of it" in disks.basis  # 8 that prepare, the trainer, the head node


def test_trajectories_used_again_are_read_and_prepared() -> None:
    warned = "before the first step GPUs wait for stored samples, which take"

    def made(*changes: str) -> tuple[float, LoadDecision | None, float]:
        sets = ("limits.max_gpus=8", "choices.gpus=[H100]", "choices.placements=[colocated]", "choices.providers=[aws]")
        one = api.problem_of(api.load(EXAMPLES / "14-vla-recap-4b-448.yaml", (*sets, *changes)))
        plan = plans(one) if "job.cache_hit_rate=0.5" in changes else cheapest(one, "pulp")
        assert plan.cost is not None
        assert plan.decisions is not None
        assert plan.time is not None
        waits = any(warned in warning for warning in plan.warnings)
        assert waits == (prepare(400.0) in changes and "job.cache_hit_rate=0.5" not in changes)
        return plan.cost.total_usd, plan.decisions.load, plan.time.once_hours

    anew = made()
    assert anew[1] is None
    again = made("job.cache_hit_rate=0.5", prepare(400.0))
    assert again[1] is not None
    assert again[1].vcpus > 0
    stored = "job.offline={samples: 2000, epochs: 2}"
    quick, slow = made(stored), made(stored, prepare(400.0))
    assert slow[2] > quick[2] > 0.0
    assert slow[0] > quick[0]


def test_random_requests_cost_what_enumeration_finds() -> None:
    chosen, stalled = set(), 0
    for seed in range(5):
        rng = random.Random(seed)
        stores = rng.sample(["object", "filesystem", "block"], 2)
        plan = plans(
            problem(
                f"choices.providers=[{rng.choice(['aws', 'gcp'])}]",
                f"choices.data_store=[{', '.join(stores)}]",
                f"job.dataset_size={10 ** rng.uniform(0.0, 4.0):.0f}GB",
                f"job.dataset_samples={10 ** rng.uniform(4.0, 6.0):.0f}",
                f"job.data.compression_ratio={rng.uniform(0.3, 1.0):.2f}",
                f"floors.free_storage={rng.choice([0.0, 0.1, 0.3])}",
                f"limits.deadline={rng.choice([12, 60, 300])}h",
                "limits.budget=90000 USD",
                prepare(10 ** rng.uniform(-1.0, 1.0), rng.uniform(0.05, 0.5)),
            )
        )
        assert plan.decisions is not None
        assert plan.decisions.load is not None
        chosen.add((plan.decisions.load.store, plan.decisions.load.vcpus))
        stalled += plan.decisions.load.stall_seconds > 0.0
    assert len(chosen) >= 4
    assert stalled >= 2


def test_object_storage_is_named_where_nothing_else_can_be_mounted() -> None:
    request = api.load(
        EXAMPLES / "02-sft-llama3.1-8b-deadline.yaml",
        (*AWS, "choices.providers=[lambda]", "choices.data_store=[filesystem]"),
    )
    plan = api.solve(request, short_frontier=False)
    assert plan.status == "infeasible"
    helps = {change.constraint: change.to for change in plan.relaxations}
    assert helps["choices.data_store"] == "filesystem, object"
