"""Runs TRL's own command parsers on exported files, and looks every key of accelerate's file up in its source.

Input: a JSON list of {"id", "argv", "folder", "gpus"}; output: {"id": {"error": text or null, "values": {...},
"checked": text}}. The parsers need no torch; constructing a trainer's configuration asks for it, so that three
properties (device, world size, GPUs of a process) stand in: world size is the plan's, which a real torch on a machine
without GPUs would not know. What the parser hands back is accelerate's: whatever is no flag of its launch command is a
misspelling.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
import warnings
from pathlib import Path

import yaml

warnings.simplefilter("ignore")
WORLD = [1]


class Device:
    type = "cuda"
    index = 0


def without_torch() -> None:
    arguments = importlib.import_module("transformers.training_args")
    kind = arguments.TrainingArguments
    kind.device = property(lambda _: Device())
    kind.world_size = property(lambda _: WORLD[0])
    kind.n_gpu = property(lambda _: 1)
    arguments.requires_backends = lambda *_, **__: None


def package_file(name: str, path: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / path).read_text(encoding="utf-8")


def accelerate_keys() -> tuple[set[str], set[str]]:
    """Fields of a cluster's file, and names of the launch command's flags."""
    tree = ast.parse(package_file("accelerate", "commands/config/config_args.py"))
    fields = {
        item.target.id
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name in ("BaseConfig", "ClusterConfig")
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    flags = set(re.findall(r'"--([a-z0-9_]+)"', package_file("accelerate", "commands/launch.py")))
    return fields, flags


def check_layout(path: Path, fields: set[str], flags: set[str]) -> dict:
    tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    wrong = [key for key in tree if key not in fields]
    for part in ("fsdp_config", "deepspeed_config", "parallelism_config"):
        wrong += [f"{part}.{key}" for key in tree.get(part) or {} if key not in flags]
    if wrong:
        raise ValueError(f"accelerate knows no {', '.join(wrong)}")
    return tree


def check(one: dict, fields: set[str], flags: set[str]) -> dict:
    script, *words = one["argv"][1:]
    layout = check_layout(Path(one["folder"]) / "accelerate.yaml", fields, flags)
    WORLD[0] = layout["num_processes"]
    parser = importlib.import_module(f"trl.scripts.{script}").make_parser()
    parts = parser.parse_args_and_config(words, return_remaining_strings=True, separate_remaining_strings=True)
    *found, ours, theirs = parts
    if ours:
        raise ValueError(f"unknown keys in the file: {ours}")
    launch = [word[2:] for word in theirs if word.startswith("--")]
    unknown = [word for word in launch if word not in flags | {"accelerate_config"}]
    if unknown:
        raise ValueError(f"neither trl nor accelerate knows --{', --'.join(unknown)}")
    values = {key: value for part in found for key, value in vars(part).items() if not key.startswith("_")}
    return {"values": values, "layout": layout}


def main() -> None:
    without_torch()
    fields, flags = accelerate_keys()
    answers = {}
    for one in json.load(sys.stdin):
        try:
            answers[one["id"]] = {"error": None, "checked": "parsed, built and asserted", **check(one, fields, flags)}
        except (Exception, SystemExit) as error:  # the launcher's own refusal is the answer
            answers[one["id"]] = {"error": f"{type(error).__name__}: {error}", "values": {}, "checked": ""}
    json.dump(answers, sys.stdout, default=str)


main()
