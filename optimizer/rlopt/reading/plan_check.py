"""Whether a saved plan can be the answer to a request, and whether its numbers can be carried out at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rlopt.answers.plan import LayoutChoice, Plan, Pool
from rlopt.errors import Complaint, InputError
from rlopt.request import Request
from rlopt.words import StageKind

MOST = 100_000
"""Largest degree, micro-batch or number of machines."""
_COUNTS = ("tp", "pp", "vp", "dp", "cp", "ep", "etp", "micro_batch", "rollout_tp", "rollout_ep")
FIX = "save the plan of this request with rlopt solve -o"


def check_plan(plan: Plan, request: Request, path: Path) -> None:
    """Refuse a plan of another job, or one whose pools contradict themselves.

    Raises
    ------
    InputError
        With every complaint at once.
    """
    found = [
        Complaint(str(path), None, key, message, allowed, fix) for key, message, allowed, fix in _wrong(plan, request)
    ]
    if found:
        raise InputError(found)


def _wrong(plan: Plan, request: Request) -> Iterator[tuple[str, str, str, str]]:
    job, made, time = request.job, plan.decisions, plan.time
    if plan.job != job.name:
        yield "job", f"the plan is of job {plan.job[:60]!r}", f"{job.name!r}, as the request names it", FIX
    if made is None or time is None:
        yield "decisions", f"the plan is {plan.status}: there is nothing to carry out", "a plan with pools", FIX
        return
    if job.generates and not 1 <= (made.group_size or 0) <= MOST:
        yield "decisions.group_size", f"{made.group_size} samples a prompt", f"1 to {MOST:,}", FIX
    if not 1 <= time.steps <= 10**9:
        yield "time.steps", f"{time.steps} steps", "1 to 1,000,000,000", FIX
    if not 1 <= made.checkpoint.interval_steps <= 10**9:
        yield "decisions.checkpoint.interval_steps", "no number of steps", "1 to 1,000,000,000", FIX
    trainers = [pool for pool in plan.pools if StageKind.TRAIN in pool.roles]
    if len(trainers) != 1 or trainers[0].layout is None:
        yield "pools", f"{len(trainers)} pools with a layout update the policy", "one", FIX
    for number, pool in enumerate(plan.pools):
        yield from _pool(f"pools[{number}]", pool, pool in trainers)


def _pool(path: str, pool: Pool, trains: bool) -> Iterator[tuple[str, str, str, str]]:
    if not (0 <= pool.gpus_per_node <= MOST and 1 <= pool.nodes <= MOST):
        yield f"{path}.nodes", f"{pool.nodes} machines of {pool.gpus_per_node} GPUs", f"1 to {MOST:,}", FIX
    elif pool.gpus != pool.nodes * pool.gpus_per_node:
        message = f"{pool.gpus} GPUs on {pool.nodes} machines of {pool.gpus_per_node}"
        yield f"{path}.gpus", message, f"{pool.nodes * pool.gpus_per_node}", FIX
    layout = pool.layout or LayoutChoice()
    wrong = [
        name for name in _COUNTS if not 1 <= (1 if getattr(layout, name) is None else getattr(layout, name)) <= MOST
    ]
    for name in wrong:
        yield f"{path}.layout.{name}", f"{getattr(layout, name)} is no degree", f"1 to {MOST:,}", FIX
    if trains and not wrong:
        product = (layout.tp or 1) * (layout.pp or 1) * (layout.cp or 1) * (layout.dp or 1)
        if product != pool.gpus:
            message = f"tp · pp · cp · dp is {product}, the pool has {pool.gpus} GPUs"
            yield f"{path}.layout", message, f"a product of {pool.gpus}", FIX
