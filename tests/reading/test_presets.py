"""Every number of a preset has its evidence, or says that it is a house rule, beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from rlopt.reading.files.layers import preset_names
from rlopt.request import TIGHTNESS

FOLDER: Final = Path(__file__).parents[2] / "constraints"
MARKS: Final = re.compile(r"arXiv \d{4}\.\d{4,5}|github\.com/|huggingface\.co/|thundercompute\.com|house rule", re.I)
WHOLE_FILE: Final = re.compile(r"# .*all values are house rules", re.I)
KEY: Final = re.compile(r"( *)([a-z_]+):(?: +([^#]*[^# ]))?\s*(#.*)?$")


def evidence(text: str) -> dict[str, str]:
    """Give the comments beside and above each floor that a preset sets, by dotted name."""
    found: dict[str, str] = {}
    above, parents = "", list[tuple[int, str, str]]()
    for line in text.splitlines():
        if line.strip().startswith("#"):
            above += f"{line.strip()}\n"
            continue
        match = KEY.match(line)
        assert match, line
        indent, key, value, beside = len(match[1]), match[2], match[3], match[4] or ""
        parents = [parent for parent in parents if parent[0] < indent]
        comment = above + beside
        path = ".".join([*(name for _, name, _ in parents), key])
        if value is None:
            parents.append((indent, key, comment if key != "floors" else ""))
        elif path.startswith("floors.") and key != "because":
            found[path.removeprefix("floors.")] = comment + "".join(text for _, _, text in parents)
        above = ""
    return found


@pytest.mark.parametrize("name", preset_names())
def test_evidence_stands_beside_every_value(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    found = evidence(text)
    assert found
    assert set(found) <= set(TIGHTNESS)
    house = WHOLE_FILE.search(text.partition("version:")[0]) is not None
    bare = [floor for floor, comments in found.items() if not house and not MARKS.search(comments)]
    assert bare == []


def test_a_bare_value_would_be_found() -> None:
    text = "# Head.\nversion: 1\nfloors:\n  group_size: 8\n  checkpoints:\n    keep_recent: 2  # House rule.\n"
    found = evidence(text)
    assert set(found) == {"group_size", "checkpoints.keep_recent"}
    assert not MARKS.search(found["group_size"])
    assert MARKS.search(found["checkpoints.keep_recent"])


def test_which_presets_protect_what() -> None:
    sets = {name: set(evidence((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))) for name in preset_names()}
    assert "core_metrics.every" in sets["base"]
    assert all("score_precision" in sets[name] for name in ("grpo", "ppo", "opd", "dpo", "vla"))
    assert {"data_precision", "simulator_bandwidth", "value_bins"} <= sets["vla"]
