"""Exports as a person would start them: scripts run, with programs in the launchers' place that note their words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlopt.launchers.exports import Export

PARSERS = Path(__file__).parent / "parsers"
PROGRAMS = ("python3", "torchrun", "deepspeed", "trl", "uv", "sky")
NOTE = """#!{python}
import json, os, sys
with open(os.environ["NOTED"], "a") as file:
    file.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
"""
BLANKS = {
    "AGENT_FILE": "agent.py",
    "CHECKPOINT_DIR": "/ckpt",
    "CRITIC_MODEL": "/models/critic",
    "DATASET": "org/data",
    "HOSTFILE": "hosts",
    "MASTER_ADDR": "10.0.0.1",
    "NODE_RANK": "0",
    "POLICY_MODEL": "/models/policy",
    "RAY_HEAD": "10.0.0.1:6379",
    "REFERENCE_MODEL": "/models/reference",
    "REWARD_FILE": "reward.py",
    "REWARD_FUNCTION": "accuracy_reward",
    "REWARD_MODEL": "/models/reward",
    "TEACHER_GPUS_PER_NODE": "2",
    "TEACHER_MODEL": "/models/teacher",
    "TEACHER_NODES": "1",
    "TOOL_CONFIG": "tools.yaml",
    "TRAIN_FILES": "train.parquet",
    "VAL_FILES": "val.parquet",
    "VLLM_SERVER": "http://10.0.0.2:8000",
}


def programs(folder: Path) -> Path:
    """A folder of programs with the launchers' names."""
    made = folder / "programs"
    made.mkdir()
    for name in PROGRAMS:
        path = made / name
        path.write_text(NOTE.format(python=sys.executable), encoding="utf-8")
        path.chmod(0o755)
    return made


def put(made: Export, folder: Path) -> Path:
    """The files of an export in a folder."""
    folder.mkdir(parents=True)
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def words_of(script: Path, known: Path, without: Sequence[str] = ()) -> list[list[str]]:
    """Every command that a script runs, as words; ``without``: blanks that are not filled in."""
    noted = script.with_suffix(".noted")
    own = {key: value for key, value in BLANKS.items() if key not in without} | {"NEMO_RL": str(script.parent)}
    environment = {**own, "PATH": f"{known}:{os.environ['PATH']}", "NOTED": str(noted)}
    run = subprocess.run(
        ["bash", str(script)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if run.returncode:
        raise ValueError(run.stderr)
    return [json.loads(line) for line in noted.read_text(encoding="utf-8").splitlines()]


def parsed(root: Path, parser: str, jobs: Sequence[Mapping[str, Any]], *more: str) -> dict[str, dict[str, Any]]:
    """What a launcher's own parser says of each job."""
    home = root / ".venv-launchers"
    python = home / "bin" / "python"
    if os.environ.get("RLOPT_NO_LAUNCHERS"):
        pytest.skip("RLOPT_NO_LAUNCHERS is set: the launchers' own parsers are not asked")
    if not (home / "rlopt-environment").exists():
        pytest.fail(f"{home} is missing: ./test makes it and could not (is the package index reachable?)")
    command = [str(python), str(PARSERS / f"{parser}.py"), str(home / "unpacked"), *more]
    run = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    answers: dict[str, dict[str, Any]] = json.loads(run.stdout.splitlines()[-1])
    assert answers.keys() == {job["id"] for job in jobs}
    return answers
