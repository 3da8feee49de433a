"""Composes verl's own configuration tree with exported overrides and runs its own validation as far as it goes.

Input: a JSON list of {"id", "argv"}; output: {"id": {"error": text or null, "values": {key: value}, "checked": text}}.
The package is never imported as a whole (that needs torch and ray): its packages stand as empty modules whose search
path is the wheel's folders, so that single files of it can be.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import sys
import types
from pathlib import Path

import yaml

HOME = Path(sys.argv[1]).resolve()
if hasattr(yaml, "CSafeLoader"):
    yaml.SafeLoader = yaml.CSafeLoader  # the tree is some 30 files for each composition
sys.path.insert(0, str(HOME))
PACKAGES = ("verl", "verl.utils", "verl.utils.profiler", "verl.utils.qat", "verl.workers", "verl.trainer")
EMPTY = ("verl.utils.fs", "verl.utils.import_utils", "verl.utils.model", "transformers")
"""Modules that need torch or transformers; what is taken from them is never called here."""


class Empty(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def stand_ins() -> None:
    for name in PACKAGES:
        made = Empty(name)
        made.__path__ = [str(HOME / name.replace(".", "/"))]
        sys.modules[name] = made
    for name in EMPTY:
        sys.modules[name] = Empty(name)
    for name in (*PACKAGES, *EMPTY):
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, sys.modules[name])
    profiler = importlib.import_module("verl.utils.profiler.config")
    vars(sys.modules["verl.utils.profiler"]).update({k: v for k, v in vars(profiler).items() if not k.startswith("_")})
    one_class(HOME / "verl/utils/qat/core.py", "QATConfig")
    for name in ("verl.trainer.config", "verl.workers.config", "verl.utils.config"):
        importlib.import_module(name)


def one_class(path: Path, name: str) -> None:
    """Put a class into its package whose file needs torch for its other parts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    room = vars(sys.modules["verl.utils.qat"])
    exec(
        "from dataclasses import dataclass, field\nfrom typing import *\nfrom verl.base_config import BaseConfig", room
    )
    exec(compile(tree, str(path), "exec"), room)


def compose(argv: list[str]) -> dict:
    from hydra import compose as compose_tree
    from hydra import initialize_config_dir
    from omegaconf import OmegaConf

    sft = "verl.trainer.sft_trainer" in argv
    overrides = [word for word in argv if "=" in word and not word.startswith("-")]
    name = "sft_trainer_engine" if sft else "ppo_trainer"
    with initialize_config_dir(config_dir=str(HOME / "verl/trainer/config"), version_base=None):
        config = compose_tree(config_name=name, overrides=overrides)
    return {
        "config": config,
        "sft": sft,
        "values": OmegaConf.to_container(config, resolve=True, throw_on_missing=False),
    }


def validate(made: dict) -> str:
    """verl.utils.config.validate_config, LoRA ranks and critics left to the parts that need no torch."""
    from omegaconf import OmegaConf, open_dict
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    config = made["config"]
    if made["sft"]:
        omega_conf_to_dataclass(config.engine)
        omega_conf_to_dataclass(config.optim)
        return "composed, engine and optim built"
    copy = OmegaConf.create(OmegaConf.to_container(config, resolve=False))
    with open_dict(copy):
        copy.actor_rollout_ref.model.lora_rank = 0
        if "lora" in copy.actor_rollout_ref.model:
            copy.actor_rollout_ref.model.lora.rank = 0
    actor = copy.actor_rollout_ref.actor
    with contextlib.redirect_stdout(io.StringIO()):
        validate_config(
            copy, use_reference_policy=bool(actor.use_kl_loss or copy.algorithm.use_kl_in_reward), use_critic=False
        )
    return "composed and validated"


def flat(tree: object, path: str = "") -> dict:
    if isinstance(tree, dict):
        return {
            k: v for key, part in tree.items() for k, v in flat(part, f"{path}.{key}" if path else str(key)).items()
        }
    return {path: tree}


def main() -> None:
    stand_ins()
    answers = {}
    for one in json.load(sys.stdin):
        try:
            made = compose(one["argv"])
            answers[one["id"]] = {"error": None, "values": flat(made["values"]), "checked": validate(made)}
        except Exception as error:  # the launcher's own refusal is the answer
            answers[one["id"]] = {"error": f"{type(error).__name__}: {error}", "values": {}, "checked": ""}
    json.dump(answers, sys.stdout)


main()
