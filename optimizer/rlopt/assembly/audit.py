"""Check a plan without any solver: every rule holds, the bill recomputed from prices is the objective.

Only the arithmetic half of each rule and cost is used. A plan that fails is never an answer.
"""

from __future__ import annotations

import math

from rlopt.answers.plan import Plan, Pool
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


def faults(plan: Plan, problem: Problem) -> list[str]:
    """What is wrong with a feasible plan; empty where nothing is."""
    if plan.cost is None or plan.time is None or plan.decisions is None or not plan.pools:
        return ["the plan has no pools, hours or bill"]
    found = [
        f"{rule.key or rule.name}: {rule.measure(plan, problem):g} {rule.unit}, the limit is {rule.limit:g}"
        for rule in rules_of(problem)
        if not rule.holds(plan, problem)
    ]
    total, lines = plan.cost.total_usd, bill(plan, problem)
    if abs(math.fsum(line.usd for line in lines) - total) > CENT:
        again = math.fsum(line.usd for line in lines)
        found.append(f"the bill recomputed is {again:.4f} USD, the plan says {total:.4f}")
    if any(line.usd < 0 or not math.isfinite(line.usd) for line in plan.cost.lines):
        found.append("a line of the bill is negative or not a number")
    objective = plan.solver.objective_usd
    if objective is None or abs(objective - total) > RELATIVE * max(1.0, abs(total)):
        found.append(f"the objective is {objective} USD, the bill is {total:.6f}")
    by_id = {offer.id: i for i, offer in enumerate(problem.market.offers)}
    for pool in plan.pools:
        if pool.gpus and pool.offer in by_id:
            price = float(problem.market.usd_per_hour[by_id[pool.offer]]) * pool.nodes
            if abs(price - pool.usd_per_hour) > RELATIVE * price:
                found.append(f"pool {pool.name} is billed {pool.usd_per_hour:g} USD/h, the catalog says {price:g}")
        elif pool.gpus:
            found.append(f"pool {pool.name}: no offer is called {pool.offer}")
        if pool.offer in by_id and straddles(pool, _cluster(by_id[pool.offer], problem)):
            found.append(f"pool {pool.name}: a replica straddles machines without a network between them")
        if pool.gpus and pool.gpus != pool.nodes * pool.gpus_per_node:
            found.append(f"pool {pool.name}: {pool.nodes} nodes of {pool.gpus_per_node} are not {pool.gpus} GPUs")
        if pool.memory is not None:
            parts = math.fsum(pool.memory.parts.values())
            if abs(parts - pool.memory.needed_gib) > 1e-6 * max(1.0, parts):
                needed = pool.memory.needed_gib
                found.append(f"pool {pool.name}: memory parts add up to {parts:g} GiB, needed is {needed:g}")
    # tools answer while other samples are generated: their machines' seconds lie within those of sampling
    stages = math.fsum(s.seconds - s.hidden_seconds for s in plan.time.stages if s.stage != "environment")
    if plan.decisions.placement == Placement.COLOCATED and stages > plan.time.step_seconds * (1 + RELATIVE):
        found.append("the stages take longer than the step they are part of")
    found += load_faults(plan, problem)
    found += worst_faults(plan, problem)
    aim, each = problem.request.job.target, plan.per_point
    told = None if each is None else (each.metric, each.points, each.usd_per_point)
    due = None if aim is None else (aim.metric, abs(aim.to - aim.from_), total / abs(aim.to - aim.from_))
    if told != due:
        found.append(f"a point of the target costs {due}, the plan says {told}")
    time = plan.time
    clean = time.startup_hours + time.once_hours + seconds_to_hours(time.steps * time.step_seconds) + time.saving_hours
    if abs(clean - time.failure_free_hours) > RELATIVE * max(1.0, clean):
        found.append(f"the hours add up to {clean:g}, without any failure the run takes {time.failure_free_hours:g}")
    if plan.time.confident_hours < plan.time.expected_hours * (1 - RELATIVE):
        found.append("the confident hours come before the expected ones")
    return found


def _cluster(offer: int, problem: Problem) -> bool:
    return problem.market.topologies[int(problem.market.topology[offer])].cluster


def audit(plan: Plan, problem: Problem) -> Plan:
    """Return ``plan`` when every check holds; raise SolverError naming each fault otherwise."""
    found = faults(plan, problem)
    if found:
        raise SolverError("the plan failed its audit: " + "; ".join(found))
    return plan
