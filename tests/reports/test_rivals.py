"""What a reader needs of plans that lost: no figure that nobody knows, no reason told twice, what was not compared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from rlopt.answers.explanation import Over, Rival
from rlopt.pools.pricing import NO_HOST_MEMORY
from rlopt.problem import Problem
from rlopt.reports.layout import to_text
from rlopt.reports.text.rivals import reason, rivals
from rlopt.studies.explain import unfit
from tests.reports import plans

NARROW = 80


def _of(**given: Any) -> Rival:
    return Rival.model_validate({"axis": "provider", "value": "one", "verdict": "memory", **given})


def _lines(*found: Rival) -> str:
    return " ".join(to_text(*rivals(found, plans.optimal()), width=NARROW).split())


def test_providers_that_lost_for_the_same_reason_are_told_once() -> None:
    text = _lines(_of(note="too small"), _of(value="two", note="too small"), _of(value="three", note="other"))
    assert "one and two: does not fit: too small" in text
    assert text.count("too small") == 1


def test_what_has_no_rival_is_named_with_the_key_that_widens_it() -> None:
    text = _lines(_of(note="too small"))
    assert "not compared, as nothing else is allowed or for sale: GPU (choices.gpus) and pricing" in text
    assert "provider (choices.providers)" not in text


def test_hours_stand_with_the_sureness_they_have() -> None:
    text = _lines(_of(verdict="dearer", total_usd=900.0, hours=12.0, machines="1 L4 spot at one"))
    assert "one, $900.00, done in 12 h: " in text
    assert "done in: 9 runs in 10 take no longer" in text


def test_a_network_that_nobody_states_is_no_network_of_speed_0() -> None:
    over = [Over(constraint="floors.simulator_bandwidth", value=0.0, limit=10.0, unit="Gbps")]
    text = reason(_of(verdict="limits", over=over), plans.optimal())
    assert "0 Gbps" not in text.replace("10 Gbps", "")
    assert "no source states" in text


def test_minutes_are_told_as_hours_where_they_are_many() -> None:
    over = [Over(constraint="floors.checkpoints.recovery_time", value=721.8, limit=30.0, unit="min")]
    told = reason(_of(verdict="limits", over=over), plans.optimal())
    assert told == "breaks floors.checkpoints.recovery_time (12 h, allowed at most 30 min)"


@pytest.mark.parametrize(
    ("stated", "said"), [([np.nan, np.nan], unfit.UNKNOWN_HOST_MEMORY), ([np.nan, 64.0], "than a machine has (64 GiB)")]
)
def test_host_memory_that_nobody_states_is_not_told_as_0(
    stated: list[float], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfit, "node_memory_gib", lambda _: np.array(stated))
    problem = cast("Problem", SimpleNamespace(excluded={NO_HOST_MEMORY: 3}, market=None))
    assert said in unfit.why_empty(problem)
