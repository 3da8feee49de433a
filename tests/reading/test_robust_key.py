"""``limits.robust``: what reading takes, what it refuses, and what a check says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import Complaint
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]


def test_a_factor_from_one_on_is_taken(bases: dict[str, str], load: Load) -> None:
    assert load(bases["grpo"], "limits.robust={time: 1.3}").limits.robust.time == 1.3
    assert load(bases["grpo"], "limits.robust.time=1").limits.robust.time == 1.0
    assert load(bases["grpo"]).limits.robust.time == 1.0


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ("limits.robust.time=0.9", "limits.robust.time", "0.9 is out of range"),
        ("limits.robust.time=11", "limits.robust.time", "11 is out of range"),
        ("limits.robust={times: 1.5}", "limits.robust.times", "unknown key"),
        ("limits.robust=1.5", "limits.robust", "1.5"),
    ],
)
def test_what_is_refused(change: str, key: str, message: str, bases: dict[str, str], complain: Complain) -> None:
    (complaint,) = complain(bases["grpo"], change)
    assert complaint.key == key
    assert message in complaint.message
    assert complaint.fix


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (("limits.deadline=20h", "limits.robust.time=1.5"), "the deadline holds even if every step takes 1.5 times"),
        (("limits.budget=900 USD", "limits.robust.time=1.5"), "the budget holds even if"),
        (("limits.budget=900 USD", "limits.deadline=20h", "limits.robust.time=2"), "the deadline and the budget hold"),
        (("limits.robust.time=1.5",), "limits.robust has nothing to hold"),
        (("limits.robust.time=1",), "nothing slower than predicted is allowed for"),
    ],
)
def test_a_check_says_what_holds(changes: tuple[str, ...], said: str, bases: dict[str, str], load: Load) -> None:
    assert any(said in sentence for sentence in derived(load(bases["sft"], *changes), FACTS))
