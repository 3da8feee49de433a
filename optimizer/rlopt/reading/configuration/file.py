"""The door for configurations: YAML or JSON with ``pools`` and ``decisions``, a saved plan, or a verl script."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from rlopt.answers.configuration import Configuration, DecisionsGiven, LayoutGiven, PoolGiven, PrecisionGiven
from rlopt.answers.plan import CheckpointDecision, LoadDecision, Plan
from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import read_text
from rlopt.reading.configuration.saved_plan import WAYS, decisions_of, of_plan
from rlopt.reading.configuration.verl import is_script, of_script, of_tree
from rlopt.reading.files.tree import Tree, join, parse
from rlopt.reading.plan_file import SCHEMA, read_plan
from rlopt.request.values.kinds import show
from rlopt.words import PoolRole

POOL: Final = (*PoolGiven.model_fields, *LayoutGiven.model_fields)
DECISIONS: Final = (
    *(name for name in DecisionsGiven.model_fields if name not in ("ways", "interval_steps", "instances")),
    *("interval", "checkpoint", "environment", "recovery", *WAYS),
)
ROLES: Final = tuple(PoolRole)
MOST_POOLS: Final = 8
EXAMPLE: Final = "{gpu: H100, gpus: 8}"
FACTS: Final = ("roles", "serves", "memory", "failures_per_hour", "lost_per_hour", "faults_per_hour", "term_hours")
OUTCOMES: Final = (*FACTS, "share", "disk_gb", "disk_gib")
"""Keys of a plan's pools that follow from what was chosen."""
NESTED: Final = {
    "checkpoint": (*("interval_steps", "tier", "compressed"), *CheckpointDecision.model_fields),
    "recovery": ("spare_nodes", "rollouts_every", "elastic"),
    "environment": ("kind", "instances"),
    "load": tuple(LoadDecision.model_fields),
}
"""Decisions that have keys of their own."""
RESULTS: Final = ("logging", "storage", "operations", "screening")
"""The same of decisions."""


def read_configuration(path: str | Path) -> Configuration:
    """Read a configuration.

    Raises
    ------
    InputError
        With every complaint that could be found: file, line, key, what is allowed, one fix.
    """
    name = str(path)
    text = read_text(Path(path), name)
    if is_script(text):
        return of_script(text, name)
    tree = parse(text, name)
    if isinstance(tree.value, Mapping) and tree.value.get("schema") == SCHEMA:
        return _of_plan(read_plan(Path(path)), name, tree)
    if tree.complaints:
        raise InputError(tree.complaints)
    if isinstance(tree.value, Mapping) and "actor_rollout_ref" in tree.value:
        return of_tree(tree.value, tree.places, name)
    return _Reader(tree, name).read()


def _of_plan(plan: Plan, name: str, tree: Tree) -> Configuration:
    if not plan.pools or plan.decisions is None:
        message, fix = f"the plan is {plan.status}: it has no pools", "save a plan that rlopt solve found"
        raise InputError.of("pools", message, file=name, allowed="a plan with pools", fix=fix)
    lines = {key: line for key, (_, line) in tree.places.items()}
    return of_plan(plan).model_copy(update={"file": name, "lines": lines})


class _Reader:
    """Reads one tree; complaints are collected."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree, self.name = tree, name
        self.complaints: list[Complaint] = []
        self.paths: list[str] = []

    def read(self) -> Configuration:
        """The configuration, or every complaint."""
        top = self.tree.value
        if not isinstance(top, Mapping) or not top:
            self.say(
                "", f"{show(top)} is no configuration", "a map with pools and decisions", f"write pools: [{EXAMPLE}]"
            )
            raise InputError(self.complaints)
        self.unknown("", top, ("pools", "decisions", *POOL, *DECISIONS))
        decided = {key: value for key, value in top.items() if key in DECISIONS}
        short = {key: value for key, value in top.items() if key in POOL and key not in DECISIONS}
        decisions = self.decisions(top, decided)
        pools = self.pools(top, short)
        if self.complaints:
            raise InputError(sorted(self.complaints, key=lambda one: one.line or 0))
        lines = {key: line for key, (_, line) in self.tree.places.items()}
        paths = tuple(self.paths)
        return Configuration(pools=tuple(pools), decisions=decisions, paths=paths, file=self.name, lines=lines)

    def say(self, key: str, message: str, allowed: str, fix: str) -> None:
        """Note a fault where its key stands."""
        file, line = self.tree.places.get(key, (self.name, None))
        self.complaints.append(Complaint(file, line, key, message, allowed, fix))

    def unknown(self, path: str, found: Mapping[Any, Any], known: tuple[str, ...]) -> None:
        """Complain about keys that nobody knows, with the nearest."""
        for key in found:
            if key not in known:
                near = get_close_matches(str(key)[:60], known, 1, 0.6)
                fix = f"did you mean {near[0]}?" if near else "delete it"
                self.say(join(path, key), "is not known here", f"one of {', '.join(dict.fromkeys(known))}", fix)

    def pools(self, top: Mapping[Any, Any], short: Mapping[Any, Any]) -> list[PoolGiven]:
        """The pools, listed or as keys of the file itself."""
        listed = top.get("pools")
        if listed is None:
            if not short:
                self.say("pools", "no pool is stated", "a list of pools", f"write pools: [{EXAMPLE}]")
                return []
            return self.pool("", short, alone=True)
        if short:
            key = str(next(iter(short)))
            self.say(key, "stands beside pools", "keys of a pool within it", f"move {key} into a pool")
        if not isinstance(listed, list) or not listed or len(listed) > MOST_POOLS:
            allowed = f"a list of 1 to {MOST_POOLS} pools"
            self.say("pools", f"{show(listed)} is no list of pools", allowed, f"write pools: [{EXAMPLE}]")
            return []
        worked = [number for number, pool in enumerate(listed) if not _without_gpus(pool)]
        found = [one for number in worked for one in self.pool(f"pools[{number}]", listed[number], len(worked) == 1)]
        self.twice(found)
        return found

    def pool(self, path: str, given: Any, alone: bool) -> list[PoolGiven]:
        """One pool, or nothing where it is wrong."""
        if not isinstance(given, Mapping):
            self.say(path, f"{show(given)} is no pool", f"a map with {', '.join(POOL)}", f"write {EXAMPLE}")
            return []
        if path:
            self.unknown(path, given, (*POOL, *OUTCOMES))
        stated = {key: value for key, value in given.items() if key in PoolGiven.model_fields and key != "layout"}
        layout = given.get("layout")
        if layout is not None and not isinstance(layout, Mapping):
            self.say(join(path, "layout"), f"{show(layout)} is no layout", "a map", "write layout: {tp: 2}")
            return []
        if layout is not None:
            self.unknown(join(path, "layout"), layout, tuple(LayoutGiven.model_fields))
        named = {key: value for key, value in given.items() if key in LayoutGiven.model_fields}
        degrees = {key: value for key, value in (layout or {}).items() if key in LayoutGiven.model_fields} | named
        if degrees.get("rollout_tp") and "rollout_ep" in degrees and degrees["rollout_ep"] is None:
            degrees["rollout_ep"] = 1
        arranged = self.model(LayoutGiven, join(path, "layout") if layout else path, degrees)
        found = self.model(PoolGiven, path, stated)
        if found is None or arranged is None:
            return []
        self.agree(path, found)
        role = found.role or self.role(path, found, given.get("roles"), alone)
        if role is None:
            return []
        self.paths.append(path)
        return [found.model_copy(update={"role": role, "layout": arranged})]

    def role(self, path: str, pool: PoolGiven, roles: Any, alone: bool) -> PoolRole | None:
        """What a pool is for, by its name or by the roles that a plan gives it."""
        listed = roles if isinstance(roles, list) else []
        for role in PoolRole:
            if (pool.name or "").startswith(role) or role.stage in listed:
                return role
        if alone:
            return PoolRole.TRAIN
        self.say(join(path, "role"), "is missing", f"one of {', '.join(ROLES)}", "say which pool trains: role: train")
        return None

    def agree(self, path: str, pool: PoolGiven) -> None:
        """Counts that contradict each other."""
        each = pool.gpus_per_node
        if each and pool.gpus and pool.gpus % each:
            message = f"{pool.gpus} GPUs are no whole number of machines of {each}"
            self.say(
                join(path, "gpus"), message, f"a multiple of {each}", f"write gpus: {each * (pool.gpus // each + 1)}"
            )
        elif each and pool.gpus and pool.nodes and each * pool.nodes != pool.gpus:
            message = f"{pool.nodes} machines of {each} are not {pool.gpus} GPUs"
            self.say(join(path, "gpus"), message, f"{each * pool.nodes}", "delete one of gpus, nodes and gpus_per_node")
        elif pool.gpus and pool.nodes and pool.gpus % pool.nodes:
            message = f"{pool.gpus} GPUs do not divide over {pool.nodes} machines"
            self.say(join(path, "gpus"), message, f"a multiple of {pool.nodes}", f"write gpus: {8 * pool.nodes}")
        prices = [
            name
            for name in ("usd_per_hour", "usd_per_node_hour", "usd_per_gpu_hour")
            if getattr(pool, name) is not None
        ]
        if len(prices) > 1:
            self.say(join(path, prices[1]), f"stands beside {prices[0]}", "one price", f"delete {prices[1]}")

    def twice(self, pools: list[PoolGiven]) -> None:
        """Pools of the same role: two that sample or score may be one mixed pool, two that train never."""
        for role in ROLES:
            most = 1 if role == "train" else 2
            count = sum(pool.role == role for pool in pools)
            if count > most:
                fix = "describe one pool, or give another its role: rollout or score"
                self.say("pools", f"{count} pools have the role {role}", f"at most {most} of them", fix)

    def decisions(self, top: Mapping[Any, Any], short: Mapping[Any, Any]) -> DecisionsGiven:
        """What stands below decisions, and the same keys at the top of the file."""
        below = top.get("decisions")
        if below is not None and not isinstance(below, Mapping):
            self.say(
                "decisions",
                f"{show(below)} is no map",
                f"a map with {', '.join(DECISIONS)}",
                "write {placement: colocated}",
            )
            below = {}
        self.unknown("decisions", below or {}, (*DECISIONS, *RESULTS, "interval_steps", "instances"))
        path = "decisions" if below else ""
        joined = {**short, **(below or {})}
        precision = joined.get("precision")
        if isinstance(precision, str):
            joined["precision"] = {"update": precision}
        for key, known in NESTED.items():
            part = joined.get(key)
            if isinstance(part, Mapping):
                self.unknown(join(path, key), part, known)
            elif part is not None:
                self.say(join(path, key), f"{show(part)} is no map", f"a map with {', '.join(known)}", "write {...}")
        given = decisions_of(joined)
        number = self.model(PrecisionGiven, join(path, "precision"), given.pop("precision", None) or {})
        found = self.model(DecisionsGiven, path, given)
        if found is None or number is None:
            return DecisionsGiven()
        return DecisionsGiven.model_validate({**found.model_dump(), "precision": number})

    def model(self, kind: type[BaseModel], path: str, values: Any) -> Any:
        """An object of ``kind``, or None with its complaints."""
        if not isinstance(values, Mapping):
            self.say(path, f"{show(values)} is no map", f"a map with {', '.join(kind.model_fields)}", "write {...}")
            return None
        try:
            return kind.model_validate({key: value for key, value in values.items() if value is not None})
        except ValidationError as error:
            for one in error.errors(include_url=False):
                key = str(one["loc"][0]) if one["loc"] else ""
                self.say(join(path, key), *_words(one, key, kind))
        return None


def _words(finding: Any, key: str, kind: type[BaseModel]) -> tuple[str, str, str]:
    """Message, allowed and fix of one finding."""
    value, context = finding["input"], finding.get("ctx", {})
    if finding["type"] == "extra_forbidden":
        return "is not known here", f"one of {', '.join(kind.model_fields)}", "delete it"
    if finding["type"] == "literal_error":
        options = [word.strip().strip("'") for word in context["expected"].replace(" or ", ",").split(",")]
        near = get_close_matches(str(value)[:60], options, 1, 0.4) or options
        return f"{show(value)} is not known here", f"one of {', '.join(options)}", f"write {near[0]}"
    if finding["type"].startswith("string"):
        return f"{show(value)} is no name", "a name of at most 200 characters", "write a name"
    if key in LayoutGiven.model_fields or finding["type"].startswith(("int", "greater", "less")):
        whole = kind is not PoolGiven or not key.startswith(("usd", "host", "node_"))
        allowed = "a whole number from 1" if whole else "a number from 0"
        return f"{show(value)} is no {'count' if whole else 'amount'}", allowed, f"write {key}: {1 if whole else 0}"
    return f"{show(value)}: {finding['msg']}", "a number from 0", "correct it"


def _without_gpus(pool: Any) -> bool:
    """Whether a plan's pool has no GPUs, or stands ready: both follow from what was decided."""
    if not isinstance(pool, Mapping):
        return False
    return pool.get("gpus") == 0 or pool.get("name") == "spare"
