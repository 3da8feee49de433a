from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import FakeApi, Result

Run = Callable[..., Result]


def test_list_counts(api: FakeApi, rlopt_run: Run) -> None:
    assert rlopt_run("catalog", "list").out.startswith("3 offers of 2 providers")
    document = json.loads(rlopt_run("catalog", "list", "--json", "--provider", "lambda").out)
    assert [row["offers"] for row in document["offers"]] == [2]
    assert document["left_out"] == {"no machine of that name": 7}


@pytest.mark.parametrize(("shelf", "number"), [("offers", 3), ("devices", 2), ("models", 1)])
def test_list_of_a_shelf(api: FakeApi, rlopt_run: Run, shelf: str, number: int) -> None:
    assert f"{number} {shelf[:-1]}" in rlopt_run("catalog", "list", shelf).out
    assert len(json.loads(rlopt_run("catalog", "list", shelf, "--json").out)) == number


def test_show(api: FakeApi, rlopt_run: Run) -> None:
    assert "maker's data sheet" in rlopt_run("catalog", "show", "H100-SXM").out
    assert json.loads(rlopt_run("catalog", "show", "Tiny-1B", "--json").out)[0]["kind"] == "model"


def test_show_of_the_unknown_is_bad_input(api: FakeApi, rlopt_run: Run) -> None:
    result = rlopt_run("catalog", "show", "H100-SMX", "--json")
    assert (result.code, result.out) == (2, "")
    assert "H100-SXM" in result.err
