"""The request that a configuration answers: narrowed to what is stated, widened by what was not allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlopt.answers.configuration import Configuration, PrecisionGiven
from rlopt.request import Request
from rlopt.studies.configuration.user_machines import UserMachines, admitting
from rlopt.words import Placement, PoolRole

WIDE_GPUS = 512
"""Least limit on GPUs where the request sets none that allows the configuration."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A configuration on its way to an answer."""

    request: Request
    """Narrowed to what is stated, and widened by it where it was not allowed."""
    machines: UserMachines
    outside: tuple[str, ...]
    """Choices and limits on GPUs of the request that do not allow the configuration."""


def asked(config: Configuration, request: Request, machines: UserMachines) -> Asked:
    """The request that allows the configuration and nothing that contradicts it."""
    outside = dict.fromkeys(machines.outside)
    narrow, given = admitting(request, machines), config.decisions

    def hold(key: str, allowed: tuple[Any, ...], value: Any) -> None:
        nonlocal narrow
        if value not in allowed:
            outside[key] = None
        narrow = narrow.replaced(key, (value,))

    placements = _placements(config, request)
    if placements is not None:
        fine = tuple(name for name in placements if name in request.placements)
        if not fine:
            outside["choices.placements"] = None
        narrow = narrow.replaced("choices.placements", fine or placements)
    for kind in PrecisionGiven.model_fields:
        value = getattr(given.precision, kind) or _pool_precision(config, kind)
        if value is not None and (kind != "rollout" or request.job.generates):
            hold(f"choices.precision.{kind}", getattr(request.choices.precision, kind), value)
    trained = config.pool(PoolRole.TRAIN)
    if trained and trained[0].layout.offload is not None:
        hold("choices.offload", request.choices.offload, trained[0].layout.offload)
    if given.group_size is not None and request.job.generates:
        hold("choices.group_size", request.group_sizes, given.group_size)
    if given.staleness:
        hold("choices.staleness", request.choices.staleness, given.staleness)
    narrow = narrow.replaced(
        "choices.mixed_pools", any(len(config.pool(role)) > 1 for role in (PoolRole.SAMPLE, PoolRole.SCORE))
    )
    most, stated = request.limits.max_gpus, sum(_gpus(config, machines))
    if most is not None and stated > most:
        outside["limits.max_gpus"] = None
    if most is None or stated > most:
        narrow = narrow.replaced("limits.max_gpus", max(2 * stated, WIDE_GPUS))
    return Asked(narrow, machines, tuple(outside))


def _gpus(config: Configuration, machines: UserMachines) -> list[int]:
    """GPUs that each pool may have at most; 0 where they are not counted."""
    each = {one.id: one.gpus for one in (*machines.catalog.offers, *machines.catalog.zone_offers)}
    pairs = zip(config.pools, machines.ids, strict=True)
    return [pool.gpus or (pool.nodes or 0) * max((each[name] for name in ids), default=0) for pool, ids in pairs]


def _placements(config: Configuration, request: Request) -> tuple[str, ...] | None:
    """Placements that the configuration may be in; None where the job has one alone."""
    if not config.pool(PoolRole.TRAIN):
        fix = "add a pool with role: train, or give that role to the only one"
        raise config.wrong(config.pools[0], "role", "no pool trains", "one pool with role: train", fix)
    given, apart = config.decisions.placement, bool(config.pool(PoolRole.SAMPLE) or config.pool(PoolRole.SCORE))
    if not request.job.generates:
        if given not in (None, Placement.COLOCATED) or apart:
            raise config.wrong(
                None,
                "placement",
                f"{request.job.algorithm} samples nothing: there is one pool, and it trains",
                "one pool",
                "delete the other pools and the placement",
            )
        return None
    if given is None:
        return (Placement.DISAGGREGATED, Placement.ASYNC) if apart else (Placement.COLOCATED,)
    if (given != Placement.COLOCATED) != apart:
        message = f"{given} does not go with {'separate pools' if apart else 'one pool that trains and samples'}"
        allowed = "disaggregated or async" if apart else "colocated"
        fix = "correct it, or " + ("delete the rollout pool" if apart else "add a pool with role: rollout")
        raise config.wrong(None, "placement", message, allowed, fix)
    return (given,)


def _pool_precision(config: Configuration, kind: str) -> str | None:
    """A precision that stands in a pool."""
    role = PoolRole.TRAIN if kind == "update" else PoolRole(kind)
    return next((pool.precision for pool in config.pools if pool.role == role and pool.precision), None)
