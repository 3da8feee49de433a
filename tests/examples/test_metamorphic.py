"""Relations between two runs (tests/data/metamorphic.csv): what a looser, tighter or dearer world may do."""

from __future__ import annotations

import csv
from operator import attrgetter
from typing import Any

import pytest

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.request import Money
from tests.examples import runs
from tests.examples.prices import scaled

CENT = 0.01
STATED = ("limits.budget", "limits.hourly_budget", "costs.vcpu_hour", "job.data.label_price", "job.data.clean_price")
"""Money that a request states itself."""
DOUBLE = [*runs.FEASIBLE, *(runs.name_of(number) for number in runs.INFEASIBLE)]
SPOT = [name for name in runs.FEASIBLE if "spot" in runs.request(name).choices.pricing]


def chosen(plan: Plan) -> list[tuple[Any, ...]]:
    """What a plan decides, without a price.

    Ten GPUs are five machines of two or two of five at one price: which of them is a tie and no decision.
    """
    made = plan.decisions
    assert made is not None
    checkpoint = (made.checkpoint.interval_steps, [(use.tier, use.copies) for use in made.checkpoint.tiers])
    decided = made.model_dump(exclude={"checkpoint"})
    pools = [
        (pool.provider, pool.region, pool.gpu, pool.gpus, pool.pricing, tuple(pool.roles), pool.layout, pool.precision)
        for pool in plan.pools
    ]
    return [("decisions", decided, checkpoint), *pools]


def test_every_relation_is_tried() -> None:
    with (runs.DATA / "metamorphic.csv").open(encoding="utf-8", newline="") as file:
        relations = [row["change"] for row in csv.DictReader(file)]
    tests = [name for name in globals() if name.startswith("test_") and name != "test_every_relation_is_tried"]
    assert len(tests) == len(relations), "one test for each relation"


@pytest.mark.parametrize("name", [name for name in DOUBLE if runs.request(name).limits.deadline is not None])
def test_a_later_deadline_never_costs_more(name: str) -> None:
    base = runs.request(name)
    assert base.limits.deadline is not None
    later = runs.solved_with(base.replaced("limits.deadline", 2.0 * base.limits.deadline))
    assert runs.total(later) <= runs.total(runs.solved(name)) + CENT


@pytest.mark.parametrize("name", [name for name in DOUBLE if runs.request(name).limits.max_gpus is not None])
def test_more_gpus_never_cost_more(name: str) -> None:
    base = runs.request(name)
    assert base.limits.max_gpus is not None
    wider = runs.solved_with(base.replaced("limits.max_gpus", 2 * base.limits.max_gpus))
    assert runs.total(wider) <= runs.total(runs.solved(name)) + CENT


@pytest.mark.parametrize("name", SPOT)
def test_a_higher_floor_never_costs_less(name: str) -> None:
    safe = runs.solved_with(runs.request(name).replaced("floors.on_demand_share", 1.0))
    assert runs.total(safe) >= runs.total(runs.solved(name)) - CENT
    assert all(pool.pricing != "spot" for pool in safe.pools)


def test_a_node_more_quota_never_costs_more() -> None:
    base = runs.request(runs.name_of("07"))
    raised = tuple(quota.model_copy(update={"max_gpus": quota.max_gpus + 8}) for quota in base.limits.quotas)
    assert raised
    plan = runs.solved_with(base.replaced("limits.quotas", raised))
    assert runs.total(plan) <= runs.total(runs.solved(runs.name_of("07"))) + CENT


def test_no_quota_never_costs_more() -> None:
    plan = runs.solved_with(runs.request(runs.name_of("07")).replaced("limits.quotas", ()))
    assert runs.total(plan) <= runs.total(runs.solved(runs.name_of("07"))) + CENT


def test_less_text_is_cheaper() -> None:
    name = runs.name_of("09")
    assert runs.total(runs.solved(name, "floors.text_log_rate=0.01")) < runs.total(runs.solved(name))


def test_only_lora_fits() -> None:
    assert runs.status(runs.request(runs.name_of("12"), "job.trainable=full")) == "infeasible"


def test_only_the_deadline_was_wrong() -> None:
    plan = runs.solved(runs.name_of("15"), "limits.deadline=2000h")
    assert plan.status in ("optimal", "feasible")


def test_time_cannot_help_memory() -> None:
    assert runs.status(runs.request(runs.name_of("16"), "limits.deadline=100000h")) == "infeasible"


def test_sixteen_samples_fit_a_larger_purse() -> None:
    plan = runs.solved(runs.name_of("17"), "limits.budget=20000 USD")
    assert plan.status in ("optimal", "feasible")
    assert plan.decisions is not None
    assert plan.decisions.group_size == 16


def test_time_cannot_help_a_budget() -> None:
    assert runs.status(runs.request(runs.name_of("17"), "limits.deadline=5000h")) == "infeasible"


def test_clean_data_needs_fewer_steps() -> None:
    """Noise costs 30 % more epochs; where cleaning has a price, it is a decision, and the steps follow it."""
    name = runs.name_of("05")
    clean = runs.solved(name, "job.data.cleaned=true")
    assert clean.time is not None
    assert clean.time.steps == 2500
    dirty = runs.solved(name, "job.data.clean_price=null")
    assert dirty.time is not None
    assert dirty.time.steps == 3250
    chosen = runs.solved(name)
    assert chosen.time is not None
    assert chosen.decisions is not None
    assert chosen.decisions.data is not None
    assert chosen.time.steps == (2500 if chosen.decisions.data["cleaned"] else 3250)
    assert runs.total(chosen) <= runs.total(dirty) + CENT


def test_smaller_images_never_cost_more() -> None:
    name = runs.name_of("14")
    small = runs.solved(name, "job.vision.image_size=224", "job.vision.tokens_per_image=64")
    assert runs.total(small) <= runs.total(runs.solved(name)) + CENT


def test_a_trained_backbone_never_costs_less() -> None:
    name = runs.name_of("14")
    assert runs.total(runs.solved(name, "job.trainable=full")) >= runs.total(runs.solved(name)) - CENT


def test_what_is_not_dropped_never_costs_less() -> None:
    name = runs.name_of("14")
    assert runs.total(runs.solved(name, "job.filter.drop=0")) >= runs.total(runs.solved(name)) - CENT


def test_reused_samples_never_cost_more() -> None:
    name = runs.name_of("13")
    assert runs.total(runs.solved(name, "job.cache_hit_rate=0.5")) <= runs.total(runs.solved(name)) + CENT


def test_a_dearer_currency_changes_the_total_alone() -> None:
    """Storage, traffic, logs and the control node are billed in USD here, so those prices are doubled beside the rate.

    Everything then costs twice as much; the budget of the file is in CNY and doubles with its rate.
    """
    name = runs.name_of("11")
    base = runs.request(name)
    rate = base.costs.exchange_rates["CNY"]
    doubled = base.replaced("costs.exchange_rates", {"CNY": Money(2.0 * rate.amount, rate.currency)})
    facts = scaled(api.catalog(), lambda currency: 1.0 if currency == "CNY" else 2.0)
    plan, before = runs.solved_with(doubled, facts), runs.solved(name)
    assert chosen(plan) == chosen(before)
    assert runs.total(plan) == pytest.approx(2.0 * runs.total(before), rel=1e-9)
    # with the rate alone, what is billed in CNY doubles and what is billed in USD stays
    alone = runs.solved_with(doubled)
    assert runs.total(before) < runs.total(alone) <= 2.0 * runs.total(before) + CENT


def test_fewer_history_copies_never_cost_more() -> None:
    name = runs.name_of("18")
    assert runs.total(runs.solved(name, "floors.checkpoints.history_every=50")) <= runs.total(runs.solved(name)) + CENT


@pytest.mark.parametrize("name", runs.FEASIBLE)
def test_three_times_every_price_is_three_times_the_total(name: str) -> None:
    """Budgets and the prices that a request states grow with the others; none here bills an engineer's hour."""
    changed = runs.request(name)
    for key in STATED:
        section, _, field = key.rpartition(".")
        money = getattr(attrgetter(section)(changed), field)
        if money is not None:
            changed = changed.replaced(key, Money(3.0 * money.amount, money.currency))
    before, plan = runs.solved(name), runs.solved_with(changed, scaled(api.catalog(), lambda _: 3.0))
    assert before.cost is not None
    assert not [line for line in before.cost.lines if "engineer" in line.basis]
    assert runs.total(plan) == pytest.approx(3.0 * runs.total(before), rel=1e-9)
    assert chosen(plan) == chosen(before)
