"""What a plan states as a configuration: pools, and what was decided beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rlopt.answers.configuration import Configuration, DecisionsGiven, LayoutGiven, PoolGiven
from rlopt.answers.plan import Plan, Pool
from rlopt.words import PoolRole

WAYS: Final = ("models", "kernels", "data", "scoring", "action_head")
"""Decisions that choose one of the ways to run the job."""


def of_plan(plan: Plan) -> Configuration:
    """The configuration that a plan is; everything in it counts as stated, machines without GPUs left out."""
    assert plan.decisions is not None
    decided = plan.decisions.model_dump(mode="json")
    given = decisions_of(decided) | {"ways": {name: decided[name] for name in WAYS}}
    given["precision"] = {key: value for key, value in decided["precision"].items() if value is not None}
    worked = [pool for pool in plan.pools if pool.gpus and pool.roles != ["spare"]]
    return Configuration(
        paths=tuple(f"pools[{plan.pools.index(pool)}]" for pool in worked),
        pools=tuple(_pool(pool) for pool in worked),
        decisions=DecisionsGiven.model_validate({key: value for key, value in given.items() if value is not None}),
    )


def _pool(pool: Pool) -> PoolGiven:
    layout = {} if pool.layout is None else pool.layout.model_dump(mode="json")
    if layout.get("rollout_tp") and layout["rollout_ep"] is None:
        layout["rollout_ep"] = 1
    known = {name: value for name, value in layout.items() if value is not None}
    return PoolGiven(
        name=pool.name,
        role=next(role for role in PoolRole if role.stage in pool.roles),
        gpu=pool.gpu,
        gpus=pool.gpus,
        nodes=pool.nodes,
        gpus_per_node=pool.gpus_per_node,
        instance_type=pool.instance_type,
        offer=pool.offer,
        provider=pool.provider,
        region=pool.region,
        zone=pool.zone,
        pricing=pool.pricing,
        usd_per_hour=pool.usd_per_hour,
        precision=pool.precision,
        layout=LayoutGiven.model_validate(known),
    )


def decisions_of(decided: Mapping[str, Any]) -> dict[str, Any]:
    """Decisions in a plan's form, or in the short one, by the names of `DecisionsGiven`."""
    names = ("placement", "group_size", "precision", "staleness", "tier", "compressed", "spare_nodes", "rollouts_every")
    found = {name: decided[name] for name in (*names, "interval_steps", "instances", "load") if name in decided}
    if "interval" in decided:
        found["interval_steps"] = decided["interval"]
    checkpoint = decided.get("checkpoint")
    if isinstance(checkpoint, Mapping):
        found |= {name: checkpoint[name] for name in ("interval_steps", "compressed", "tier") if name in checkpoint}
        tiers = checkpoint.get("tiers")
        uses = [use for use in tiers if isinstance(use, Mapping)] if isinstance(tiers, list) else []
        listed = [(use.get("tier"), use.get("roles")) for use in uses]
        recent = [tier for tier, roles in listed if isinstance(roles, list) and "recent" in roles]
        found |= {"tier": recent[0]} if recent else {}
    recovery = decided.get("recovery")
    if isinstance(recovery, Mapping):
        found["spare_nodes"] = recovery.get("spare_nodes")
        if "rollouts_every" in recovery:
            found["rollouts_every"] = recovery["rollouts_every"] or 0
    environment = decided.get("environment")
    if isinstance(environment, Mapping):
        found["instances"] = environment.get("instances")
    ways = {name: decided[name] for name in WAYS if decided.get(name) is not None}
    return found | ({"ways": ways} if ways else {})
