"""Write tests/data/launchers/nemo_rl_keys.json from a checkout of NeMo-RL: the keys of its shipped files and types.

NeMo-RL is on no package index, so the suite checks exported overrides against this list. Run it as
``python scripts/nemo_rl_keys.py CHECKOUT COMMIT`` when the version described moves on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "launchers" / "nemo_rl_keys.json"
BASES = (
    "grpo_math_1B",
    "grpo_math_1B_megatron",
    "ppo_math_1B",
    "ppo_math_1B_megatron",
    "distillation_math",
    "distillation_math_megatron",
    "sft",
    "dpo",
    "rm",
)


def main(checkout: str, commit: str) -> None:
    """Read every base with what it inherits, and write all of them as one file."""
    folder = Path(checkout) / "examples" / "configs"
    found = {f"examples/configs/{name}.yaml": _keys(folder / f"{name}.yaml") for name in BASES}
    document = {"source": "github.com/NVIDIA-NeMo/RL", "commit": commit, "license": "Apache-2.0", "bases": found}
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(json.dumps(document, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def _keys(path: Path) -> dict[str, str]:
    return dict(sorted(_leaves(_tree(path), "")))


def _tree(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML

    own: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    parents = own.pop("defaults", [])
    merged: dict[str, Any] = {}
    for parent in [parents] if isinstance(parents, str) else parents:
        merged = _merged(merged, _tree(path.parent / parent))
    return _merged(merged, own)


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = dict(base)
    for key, value in over.items():
        old = both.get(key)
        both[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both


def _leaves(tree: Any, path: str) -> list[tuple[str, str]]:
    if isinstance(tree, dict) and tree:
        parts = ((f"{path}.{key}" if path else str(key), part) for key, part in tree.items())
        return [leaf for at, part in parts for leaf in _leaves(part, at)]
    reference = isinstance(tree, str) and tree.startswith("${")
    return [(path, "reference" if reference else "null" if tree is None else type(tree).__name__)]


if __name__ == "__main__":
    main(*sys.argv[1:3])
