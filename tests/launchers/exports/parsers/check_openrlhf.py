"""Runs OpenRLHF's own argument parsers, with the assertions that follow them, on exported command lines.

Input: a JSON list of {"id", "argv"}; output: {"id": {"error": text or null, "values": {flag: value}, "checked": text}}.
Importing its command modules needs torch, ray and vLLM, but each keeps its parser in the ``__main__`` block: that block
is taken from the file and run with ``train`` replaced. argparse takes unambiguous prefixes, so each flag is also looked
up in the parser's own list.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import sys
import types
from datetime import datetime
from pathlib import Path

HOME = Path(sys.argv[1]).resolve()


class RefusedError(Exception):
    """What argparse says instead of ending the process."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise RefusedError(message)

    def parse_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def, override]
        known = set(self._option_string_actions)
        unknown = [word for word in sys.argv[1:] if word.startswith("--") and word not in known]
        if unknown:
            raise RefusedError(f"unrecognized arguments: {' '.join(unknown)}")
        return super().parse_args(args, namespace)


def block(module: str) -> ast.Module:
    path = HOME / (module.replace(".", "/") + ".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    mains = [node for node in tree.body if isinstance(node, ast.If) and "__main__" in ast.dump(node.test)]
    return ast.fix_missing_locations(ast.Module(body=mains[-1].body, type_ignores=[]))


def settings_module() -> None:
    spec = importlib.util.spec_from_file_location("openrlhf.utils.config", HOME / "openrlhf/utils/config.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name in ("openrlhf", "openrlhf.utils"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["openrlhf.utils.config"] = made


def flat(space: object, path: str = "") -> dict:
    if isinstance(space, types.SimpleNamespace):
        parts = vars(space).items()
        return {k: v for key, part in parts for k, v in flat(part, f"{path}.{key}" if path else key).items()}
    return {path: space}


def run(argv: list[str]) -> dict:
    at = next(number for number, word in enumerate(argv) if word.startswith("openrlhf.cli."))
    kept: dict = {}
    sys.argv = [argv[at], *argv[at + 1 :]]
    fake = types.SimpleNamespace(ArgumentParser=Parser)
    room = {
        "argparse": fake,
        "datetime": datetime,
        "train": lambda args: kept.update(flat(args)),
        "__name__": "__main__",
    }
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(block(argv[at]), argv[at], "exec"), room)
    return kept


def main() -> None:
    settings_module()
    answers = {}
    for one in json.load(sys.stdin):
        try:
            answers[one["id"]] = {"error": None, "values": run(one["argv"]), "checked": "parsed and asserted"}
        except Exception as error:  # the launcher's own refusal is the answer
            answers[one["id"]] = {"error": f"{type(error).__name__}: {error}", "values": {}, "checked": ""}
    json.dump(answers, sys.stdout, default=str)


main()
