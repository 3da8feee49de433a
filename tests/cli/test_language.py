"""``--lang`` and RLOPT_LANG: reports and errors in Chinese, JSON as ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt import language
from rlopt.errors import Complaint, InputError
from tests.cli.conftest import FakeApi, Result

Run = Callable[..., Result]


def test_a_plan_is_told_in_chinese(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("solve", request_file, "--lang", "zh")
    assert "math-7b 的成本为 $612.40" in result.out
    assert "账单" in result.out
    assert language.current() == "en"


def test_the_option_may_stand_before_the_command(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    assert rlopt_run("--lang", "zh", "solve", request_file).out == rlopt_run("solve", request_file, "--lang=zh").out


def test_the_environment_names_a_language(
    api: FakeApi, rlopt_run: Run, request_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLOPT_LANG", "zh")
    assert "账单" in rlopt_run("solve", request_file).out
    assert "Bill" in rlopt_run("solve", request_file, "--lang", "en").out


def test_json_is_the_same_in_every_language(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    english = rlopt_run("solve", request_file, "--json").out
    assert rlopt_run("solve", request_file, "--json", "--lang", "zh").out == english


def test_errors_are_told_in_chinese(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    api.failure = InputError([Complaint("c.yaml", 3, "limits.deadline", "unknown key", fix="delete it")])
    err = rlopt_run("solve", request_file, "--lang", "zh").err
    assert err.startswith("错误：c.yaml:3: limits.deadline: ")


def test_an_unknown_language_is_bad_input(rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("solve", request_file, "--lang", "fr")
    assert result.code == 2
    assert "--lang" in result.err
