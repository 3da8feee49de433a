"""Applies exported overrides to a shipped base of NeMo-RL as its own loader does: an unknown key is an error.

Its package needs Python 3.13 and torch, so the base is rebuilt from a list of its keys with their types. Input: a JSON
list of {"id", "argv"} and the list's path as the second argument; output: {"id": {"error", "values", "checked"}}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

KINDS = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,), "list": (list,), "dict": (dict,)}
SAMPLES = {"int": 0, "float": 0.0, "bool": False, "str": "", "list": [], "dict": {}}


def base(keys: dict) -> OmegaConf:
    tree: dict = {}
    for key, kind in keys.items():
        *path, last = key.split(".")
        room = tree
        for step in path:
            room = room.setdefault(step, {})
        room[last] = SAMPLES.get(kind)
    return OmegaConf.create(tree)


def check(argv: list, bases: dict) -> dict:
    name = argv[argv.index("--config") + 1]
    if name not in bases:
        raise ValueError(f"{name} is no shipped base")
    overrides = argv[argv.index("--config") + 2 :]
    config = base(bases[name])
    OmegaConf.set_struct(config, True)
    parsed = OverridesParser.create().parse_overrides(overrides=overrides)
    ConfigLoaderImpl._apply_overrides_to_config(overrides=parsed, cfg=config)
    values = {}
    for one in parsed:
        value, kind = one.value(), bases[name].get(one.key_or_group)
        value = str(value) if type(value).__name__ == "QuotedString" else value
        if kind in KINDS and value is not None and not isinstance(value, KINDS[kind]):
            raise ValueError(f"{one.key_or_group}: {value!r} is no {kind}")
        if kind == "int" and isinstance(value, bool):
            raise ValueError(f"{one.key_or_group}: {value!r} is no {kind}")
        values[one.key_or_group] = value
    return {"values": values, "checked": "applied to its base"}


def main() -> None:
    bases = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))["bases"]
    answers = {}
    for one in json.load(sys.stdin):
        try:
            answers[one["id"]] = {"error": None, **check(one["argv"], bases)}
        except Exception as error:  # the launcher's own refusal is the answer
            answers[one["id"]] = {"error": f"{type(error).__name__}: {error}", "values": {}, "checked": ""}
    json.dump(answers, sys.stdout, default=str)


main()
