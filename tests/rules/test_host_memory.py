"""Host memory of a plan's machines: what it may use, and the rule that holds it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.costs.hand import columns_of, hand_problem
from tests.costs.test_twins import plan_of
from tests.rules.test_rules import rule_named


def test_a_plan_shows_the_host_memory_that_it_may_use() -> None:
    problem = hand_problem()
    limited = replace(problem, market=replace(problem.market, host_memory_gib=np.full(3, 100.0)))
    for found, capacity in ((problem, 256.0), (limited, 100.0)):
        pool = plan_of(columns_of(found), 0, found).pools[0]
        assert pool.memory is not None
        assert pool.memory.host_capacity_gib == capacity


def test_host_memory_is_held_against_machines_that_state_theirs() -> None:
    problem = hand_problem()
    plan, rule = plan_of(columns_of(problem), 0, problem), rule_named(problem, "host_memory")
    pool = plan.pools[0]
    assert pool.memory is not None
    for needed, there, holds in ((100.0, 256.0, True), (300.0, 256.0, False), (300.0, None, True)):
        memory = pool.memory.model_copy(update={"host_gib": needed, "host_capacity_gib": there})
        changed = plan.model_copy(update={"pools": [pool.model_copy(update={"memory": memory}), *plan.pools[1:]]})
        assert rule.holds(changed, problem) is holds
