"""What would make a configuration fit: single changes of it, each tried and priced."""

from __future__ import annotations

from typing import Any

from rlopt.answers.configuration import Configuration, LayoutGiven, PoolGiven
from rlopt.answers.evaluation import Remedy
from rlopt.errors import RloptError
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.search.clock import Clock
from rlopt.studies.configuration.price import price
from rlopt.words import Offload, PoolRole, Recompute, Sharding

SECONDS = 20.0
"""For all of them together."""


Change = tuple[str, Any, Any, Configuration, Request]
"""Key, what stands before and after, and what is then asked."""


def _of_training(pool: PoolGiven) -> list[tuple[str, Any, Any, dict[str, Any]]]:
    """Changes of the layout that trains."""
    found: list[tuple[str, Any, Any, dict[str, Any]]] = []
    for key, value in (
        ("offload", Offload.OPTIMIZER),
        ("offload", Offload.PARAMETERS),
        ("recompute", Recompute.FULL),
        ("micro_batch", 1),
        ("sharding", Sharding.ZERO3),
    ):
        before = getattr(pool.layout, key)
        if before is not None and before != value:
            found.append((f"layout.{key}", before, value, {"layout": pool.layout.model_copy(update={key: value})}))
    return found


def _changes(config: Configuration, request: Request, role: str) -> list[Change]:
    """Single changes of the pool of a role that are worth trying."""
    at = next((n for n, pool in enumerate(config.pools) if pool.role == role), 0)
    pool = config.pools[at]

    def other(update: dict[str, Any]) -> Configuration:
        changed = pool.model_copy(update=update)
        return config.model_copy(update={"pools": (*config.pools[:at], changed, *config.pools[at + 1 :])})

    found = _of_training(pool) if role == PoolRole.TRAIN else []
    if any(value is not None for value in pool.layout.model_dump().values()):
        found.append(("layout", "as stated", "free", {"layout": LayoutGiven()}))
    loose = pool.layout.model_copy(update=dict.fromkeys(("dp", "pp") if role == PoolRole.TRAIN else ("tp", "ep", "dp")))
    for factor in (2, 4, 8):
        key = "gpus" if pool.gpus else "nodes"
        more = {
            name: getattr(pool, name) and getattr(pool, name) * factor for name in ("gpus", "nodes", "usd_per_hour")
        }
        if getattr(pool, key):
            found.append((key, getattr(pool, key), more[key], {**more, "layout": loose}))
    if not pool.has_user_price and pool.gpu is not None:
        free = dict.fromkeys(("gpu", "instance_type", "offer", "provider", "region", "zone", "gpus_per_node", "nodes"))
        found.append(("gpu", pool.gpu, "any", {**free, "layout": loose}))
    changes: list[Change] = [(*one[:3], other(one[3]), request) for one in found]
    if pool.layout.offload is None and "parameters" not in request.choices.offload and role == PoolRole.TRAIN:
        wider = request.replaced("choices.offload", tuple(Offload))
        changes.append(("choices.offload", ", ".join(request.choices.offload), "all", config, wider))
    if request.job.trainable.kind == "full" and role == PoolRole.TRAIN:
        lora = type(request.job.trainable)(kind="lora", lora_rank=32)
        changes.append(("job.trainable", "full", "lora_rank: 32", config, request.replaced("job.trainable", lora)))
    if request.job.generates and config.decisions.precision.rollout in (None, "bf16"):
        low = config.decisions.precision.model_copy(update={"rollout": "fp8"})
        decided = config.decisions.model_copy(update={"precision": low})
        lower = config.model_copy(update={"decisions": decided})
        changes.append(("decisions.precision.rollout", "bf16", "fp8", lower, request))
    return changes


def remedies(problem: Problem, config: Configuration, pool: str, backend: str = "pulp") -> list[Remedy]:
    """Changes of the pool that does not fit under which the configuration runs.

    Those that keep every limit and floor come first, each part cheapest first. Of more GPUs the fewest that help, and
    the fewest that help within the limits.
    """
    role = pool if pool in (PoolRole.SAMPLE, PoolRole.SCORE) else PoolRole.TRAIN
    clock, found, opened = Clock.of(SECONDS), list[Remedy](), set[tuple[str, bool]]()
    for key, before, after, changed, wider in _changes(config, problem.request, role):
        if clock.over or (key, True) in opened:
            continue
        try:
            tried = price(problem, changed, wider, backend)
        except RloptError:  # a change that cannot be asked helps nobody
            continue
        plan, breaks = tried.plan, tried.breaks
        if plan is None or (key, not breaks) in opened:
            continue
        opened.add((key, not breaks))
        if key == "gpu":
            work = PoolRole(role).stage
            taken = next(one for one in plan.pools if work in one.roles)
            after = f"{taken.gpu} ({taken.instance_type} at {taken.provider})"
        usd, hours = plan.cost.total_usd, plan.time.expected_hours
        found.append(
            Remedy(key=key, before=before, after=after, total_usd=usd, expected_hours=hours, breaks=list(breaks))
        )
    return sorted(found, key=lambda one: (bool(one.breaks), one.total_usd))
