"""What of a configuration was stated, and what was taken because it is cheapest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rlopt.answers.configuration import Configuration
from rlopt.answers.evaluation import Said
from rlopt.answers.plan import FoundPlan, Pool
from rlopt.studies.diff import RESULTS, chosen, flat
from rlopt.words import PoolRole

PLAN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    PoolRole.TRAIN: ("train", "main"),
    PoolRole.SAMPLE: ("rollout", "rollout-1", "rollout-2"),
    PoolRole.SCORE: ("score", "score-1", "score-2"),
}
FOLLOWS: Final = ("name", "roles", "serves", "usd_per_hour", "term_hours", "share", "disk_gb", "sequence_parallel")
"""Fields of a pool that follow from others."""
DERIVED: Final = ("logging", "storage", "operations", "screening", "environment.kind")
"""The same of decisions."""
SPELLED: Final = {
    "interval_steps": "checkpoint.interval_steps",
    "tier": "checkpoint.tiers",
    "compressed": "checkpoint.compressed",
    "spare_nodes": "recovery.spare_nodes",
    "rollouts_every": "recovery.rollouts_every",
    "instances": "environment.instances",
}
"""Decisions whose name in a plan is longer."""
IMPLIES: Final[Mapping[str, tuple[str, ...]]] = {
    "offer": ("gpu", "provider", "region", "zone", "instance_type", "gpus_per_node", "pricing"),
    "gpus": ("nodes",),
    "instance_type": ("gpus_per_node", "gpu"),
}
"""Keys of a pool that another one settles."""


def sources_of(config: Configuration, plan: FoundPlan | None) -> tuple[list[Said], list[Said]]:
    """Stated and taken, by dotted key; nothing is taken where there is no plan."""
    pools = {} if plan is None else {pool.name: pool for pool in plan.pools if pool.gpus and pool.name != "spare"}
    stated: dict[str, Any] = {}
    settled = set[str]()
    left = list(pools)
    for number, pool in enumerate(config.pools):
        name = next((one for one in left if one in PLAN_NAMES[str(pool.role)]), _alone(config, number))
        left = [one for one in left if one != name]
        given = pool.model_dump(mode="json", exclude_none=True, exclude={"name", "role"})
        known = (
            flat(given, f"pools.{name}")
            if given.get("layout")
            else flat({k: v for k, v in given.items() if k != "layout"}, f"pools.{name}")
        )
        stated |= known
        settled |= {f"pools.{name}.{key}" for one in given for key in IMPLIES.get(one, ())}
        if name in pools:
            known_gpu = pools[name].gpus
            settled |= {f"pools.{name}.gpus"} if pool.nodes and known_gpu else set()
            settled |= {f"pools.{name}.precision"}
    decided = config.decisions.model_dump(mode="json", exclude_none=True)
    decided |= decided.pop("ways", {})
    stated |= {f"decisions.{SPELLED.get(key, key)}": value for key, value in _leaves(decided)}
    if plan is None:
        return _list(stated), []
    every = flat(plan.decisions.model_dump(mode="json"), "decisions")
    every |= flat({name: _own(pool) for name, pool in pools.items()}, "pools")
    taken = {key: value for key, value in every.items() if value not in (None, []) and not _known(key, stated, settled)}
    return _list(stated), _list(taken)


def _alone(config: Configuration, number: int) -> str:
    """What a pool is called where there is no plan."""
    pool = config.pools[number]
    return pool.name or (
        str(pool.role) if len(config.pool(pool.role or PoolRole.TRAIN)) == 1 else f"{pool.role}-{number + 1}"
    )


def _leaves(tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key.partition(".")[2], value) for key, value in flat(tree, "x").items()]


def _own(pool: Pool) -> dict[str, Any]:
    return {key: value for key, value in chosen(pool).items() if key not in FOLLOWS}


def _known(key: str, stated: Mapping[str, Any], settled: set[str]) -> bool:
    """Whether a key of the plan was stated, follows from what was, or is no choice at all."""
    name = key.partition(".")[2]
    if key.rpartition(".")[2] in (*RESULTS, *FOLLOWS) or any(
        name == one or name.startswith((f"{one}.", f"{one}[")) for one in DERIVED
    ):
        return True
    before = key.partition("[")[0]
    return key in stated or key in settled or before in stated or (before != key and not key.endswith(".tier"))


def _list(values: Mapping[str, Any]) -> list[Said]:
    return [Said(key=key, value=value) for key, value in values.items()]
