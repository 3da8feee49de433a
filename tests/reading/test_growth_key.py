"""``job.response_tokens.mean_end``: what reading takes, what it refuses, and what a check says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import Complaint
from rlopt.facts.files.folder import load_catalog
from rlopt.reading.calibration_file import RunProgress
from rlopt.reading.rest import rest_of
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]
TEXT, END = "job.response_tokens", "job.response_tokens.mean_end"


@pytest.mark.parametrize(
    ("end", "average", "last"), [(None, 200.0, 200.0), (600, 400.0, 600.0), (100, 150.0, 100.0), (1024, 612.0, 1024.0)]
)
def test_the_mean_moves_to_its_end(
    end: float | None, average: float, last: float, bases: dict[str, str], load: Load
) -> None:
    text = load(bases["grpo"], *([] if end is None else [f"{END}={end}"])).job.response_tokens
    assert (text.mean, text.average, text.last) == (200.0, average, last)
    assert (text.over_run.mean, text.over_run.mean_end, text.over_run.max) == (average, None, 1024)


@pytest.mark.parametrize(
    ("base", "changes", "key", "message", "fix"),
    [
        ("grpo", (f"{END}=1200",), TEXT, "mean_end 1200 exceeds max 1024", "write max: 1200 or more"),
        ("grpo", (f"{TEXT}.p99=500", f"{END}=600"), TEXT, "mean_end 600 exceeds p99 500", "leave p99 out"),
        ("grpo", (f"{END}=0",), END, "0 is out of range", "write"),
        ("grpo", (f"{END}=.nan",), END, "nan", ""),
        ("grpo", (f"{END}=1e300",), END, "1e+300", ""),
        ("grpo", (f"{END}=long",), END, "'long' is not a number", ""),
        ("grpo", ("job.prompt_tokens.mean_end=300",), "job.prompt_tokens.mean_end", "unknown key", ""),
        ("sft", (f"{END}=600",), END, "does not apply to sft", "delete mean_end"),
    ],
)
def test_what_is_refused(
    base: str, changes: tuple[str, ...], key: str, message: str, fix: str, bases: dict[str, str], complain: Complain
) -> None:
    (complaint,) = complain(bases[base], *changes)
    assert complaint.key == key
    assert message in complaint.message
    assert fix in (complaint.fix or "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((f"{END}=600",), "the mean response moves evenly from 200 to 600 tokens over the run, 400 on average"),
        ((f"{END}=50",), "from 200 to 50 tokens over the run, 125 on average, 1,024 at most: hours and bill"),
    ],
)
def test_a_check_says_how_they_move(changes: tuple[str, ...], said: str, bases: dict[str, str], load: Load) -> None:
    assert any(said in sentence for sentence in derived(load(bases["grpo"], *changes), FACTS))


def test_the_rest_of_a_run_begins_where_it_stands(bases: dict[str, str], load: Load) -> None:
    request = load(bases["grpo"], f"{END}=600", "job.steps=100")
    run = RunProgress(request.job.name, "grpo", None, 100, 25, 1.0, None)
    text = rest_of(request, run, "run.yaml").job.response_tokens
    assert (text.mean, text.last, text.average) == (300.0, 600.0, 450.0)
    level = load(bases["grpo"], "job.steps=100")
    assert rest_of(level, run, "run.yaml").job.response_tokens == level.job.response_tokens


@pytest.mark.parametrize("changes", [(), (f"{END}=200",)])
def test_it_says_nothing_where_they_stay(changes: tuple[str, ...], bases: dict[str, str], load: Load) -> None:
    assert not any("over the run, " in sentence for sentence in derived(load(bases["grpo"], *changes), FACTS))


@pytest.mark.parametrize(("part", "mean"), [((0.0, 0.5), 300.0), ((0.25, 0.75), 400.0), ((1.0, 1.0), 600.0)])
def test_a_part_of_a_run_has_the_mean_of_its_own_steps(
    part: tuple[float, float], mean: float, bases: dict[str, str], load: Load
) -> None:
    text = load(bases["grpo"], f"{END}=600").job.response_tokens
    assert text.part(*part).over_run.mean == mean
    assert text.part(0.0, 1.0) == text
