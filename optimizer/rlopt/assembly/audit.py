"""Check a plan without any solver: every rule holds, the bill recomputed from prices is the objective.

Only the arithmetic half of each rule and cost is used. A plan that fails is never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rlopt.answers.plan import FoundPlan, Pool, Time
from rlopt.costs import bill
from rlopt.costs.loading import load_faults
from rlopt.errors import SolverError
from rlopt.problem import Problem
from rlopt.rules import rules_of
from rlopt.rules.worst import worst_faults
from rlopt.units import seconds_to_hours
from rlopt.words import Placement, StageKind

CENT = 0.01
RELATIVE = 1e-6


def straddles(pool: Pool, cluster: bool) -> bool:
    """Whether an engine, a scorer or a training layout of the pool needs a link between machines that is not there.

    ``cluster``: whether the machines have a known network between them. A replica of more GPUs than a machine has
    spans whole machines; a smaller one divides a machine.
    """
    if pool.layout is None or not pool.gpus:
        return False
    if StageKind.TRAIN in pool.roles and pool.nodes > 1 and not cluster:
        return True
    degrees = [pool.layout.rollout_tp, pool.layout.rollout_ep]
    if StageKind.TRAIN not in pool.roles:
        degrees += [pool.layout.tp, pool.layout.ep]
    size = max(degree or 1 for degree in degrees)
    if size <= pool.gpus_per_node:
        return pool.gpus_per_node % size != 0
    return not cluster or size % pool.gpus_per_node != 0 or pool.gpus % size != 0


def faults(plan: FoundPlan, problem: Problem) -> list[str]:
    """What is wrong with a plan; empty where nothing is."""
    if not plan.pools:
        return ["the plan has no pools, hours or bill"]
    found = [
        f"{rule.key or rule.name}: {rule.measure(plan, problem):g} {rule.unit}, the limit is {rule.limit:g}"
        for rule in rules_of(problem)
        if not rule.holds(plan, problem)
    ]
    found += _bill_faults(plan, problem)
    offers = {offer.id: number for number, offer in enumerate(problem.market.offers)}
    found += [fault for pool in plan.pools for fault in _pool_faults(pool, offers.get(pool.offer), problem)]
    found += _stage_faults(plan)
    found += load_faults(plan, problem)
    found += worst_faults(plan, problem)
    found += _target_faults(plan, problem)
    return [*found, *_hour_faults(plan.time)]


def _bill_faults(plan: FoundPlan, problem: Problem) -> Iterator[str]:
    """The bill is that of the costs' arithmetic, and the objective's."""
    total, lines = plan.cost.total_usd, bill(plan, problem)
    again = math.fsum(line.usd for line in lines)
    if abs(again - total) > CENT:
        yield f"the bill recomputed is {again:.4f} USD, the plan says {total:.4f}"
    if any(line.usd < 0 or not math.isfinite(line.usd) for line in plan.cost.lines):
        yield "a line of the bill is negative or not a number"
    objective = plan.solver.objective_usd
    if objective is None or abs(objective - total) > RELATIVE * max(1.0, abs(total)):
        yield f"the objective is {objective} USD, the bill is {total:.6f}"


def _pool_faults(pool: Pool, offer: int | None, problem: Problem) -> Iterator[str]:
    """A pool stands on machines of the catalog at their price, its replicas and memory add up."""
    if pool.gpus and offer is not None:
        price = float(problem.market.usd_per_hour[offer]) * pool.nodes
        if abs(price - pool.usd_per_hour) > RELATIVE * price:
            yield f"pool {pool.name} is billed {pool.usd_per_hour:g} USD/h, the catalog says {price:g}"
    elif pool.gpus:
        yield f"pool {pool.name}: no offer is called {pool.offer}"
    if offer is not None and straddles(pool, _cluster(offer, problem)):
        yield f"pool {pool.name}: a replica straddles machines without a network between them"
    if pool.gpus and pool.gpus != pool.nodes * pool.gpus_per_node:
        yield f"pool {pool.name}: {pool.nodes} nodes of {pool.gpus_per_node} are not {pool.gpus} GPUs"
    if pool.memory is not None:
        parts = math.fsum(pool.memory.parts.values())
        if abs(parts - pool.memory.needed_gib) > 1e-6 * max(1.0, parts):
            needed = pool.memory.needed_gib
            yield f"pool {pool.name}: memory parts add up to {parts:g} GiB, needed is {needed:g}"


def _stage_faults(plan: FoundPlan) -> Iterator[str]:
    """Tools answer while other samples are generated: their machines' seconds lie within those of sampling."""
    stages = math.fsum(s.seconds - s.hidden_seconds for s in plan.time.stages if s.stage != "environment")
    if plan.decisions.placement == Placement.COLOCATED and stages > plan.time.step_seconds * (1 + RELATIVE):
        yield "the stages take longer than the step they are part of"


def _target_faults(plan: FoundPlan, problem: Problem) -> Iterator[str]:
    """A point of the target costs its part of the bill."""
    aim, each = problem.request.job.target, plan.per_point
    told = None if each is None else (each.metric, each.points, each.usd_per_point)
    due = None
    if aim is not None:
        points = abs(aim.to - aim.from_)
        due = (aim.metric, points, plan.cost.total_usd / points)
    if told != due:
        yield f"a point of the target costs {due}, the plan says {told}"


def _hour_faults(time: Time) -> Iterator[str]:
    """The parts of a run are its hours, and the confident ones are no fewer than the expected ones."""
    clean = time.startup_hours + time.once_hours + seconds_to_hours(time.steps * time.step_seconds) + time.saving_hours
    if abs(clean - time.failure_free_hours) > RELATIVE * max(1.0, clean):
        yield f"the hours add up to {clean:g}, without any failure the run takes {time.failure_free_hours:g}"
    if time.confident_hours < time.expected_hours * (1 - RELATIVE):
        yield "the confident hours come before the expected ones"


def _cluster(offer: int, problem: Problem) -> bool:
    return problem.market.topologies[int(problem.market.topology[offer])].cluster


def audit(plan: FoundPlan, problem: Problem) -> FoundPlan:
    """Return ``plan`` when every check holds; raise SolverError naming each fault otherwise."""
    found = faults(plan, problem)
    if found:
        raise SolverError("the plan failed its audit: " + "; ".join(found))
    return plan
