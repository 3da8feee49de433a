from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import FakeApi, Result

Run = Callable[..., Result]


def test_check_prints_what_was_derived(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("check", request_file, "--set", "job.steps=600")
    assert (result.code, result.out) == (0, "steps: 600\nsequences per step: 1024\n")
    assert api.calls == [("check", {"path": request_file, "overrides": ("job.steps=600",)})]


def test_schema_is_json(api: FakeApi, rlopt_run: Run) -> None:
    assert json.loads(rlopt_run("schema").out)["type"] == "object"


def test_init_prints_or_writes(api: FakeApi, rlopt_run: Run, tmp_path: Path) -> None:
    assert rlopt_run("init").out.startswith("version: 1\njob: {algorithm: grpo")
    target = tmp_path / "new.yaml"
    result = rlopt_run("init", "--algorithm", "sft", "--model", "m", "-o", target)
    assert (result.code, result.out) == (0, "")
    assert "algorithm: sft" in target.read_text(encoding="utf-8")
    assert api.calls[-1] == ("init_text", {"algorithm": "sft", "model": "m"})


def test_init_does_not_overwrite_without_force(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    before = request_file.read_text(encoding="utf-8")
    assert rlopt_run("init", "-o", request_file).code == 2
    assert request_file.read_text(encoding="utf-8") == before
    assert rlopt_run("init", "-o", request_file, "--force").code == 0
    assert request_file.read_text(encoding="utf-8") != before


def test_no_command_shows_the_help(rlopt_run: Run) -> None:
    result = rlopt_run()
    assert result.code == 2
    assert "Usage: rlopt" in result.err


def test_near_miss_is_named(rlopt_run: Run) -> None:
    result = rlopt_run("slove")
    assert result.code == 2
    assert "solve" in result.err
