"""A step and its stages add up for the reader: what no pool works is said, what lies within a stage is not added."""

from __future__ import annotations

from rlopt.answers.plan import StageTime, Time
from rlopt.reports.layout import to_text
from rlopt.reports.text.time import sections, waits
from tests.reports import plans


def _time(step_seconds: float, *stages: StageTime) -> Time:
    time = plans.optimal().time
    assert time is not None
    return time.model_copy(update={"step_seconds": step_seconds, "stages": list(stages)})


TRAIN = StageTime(stage="update", pool="train", seconds=60.0, model="policy")
SAMPLE = StageTime(stage="generate", pool="rollout", seconds=90.0, model="policy")
WORLD = StageTime(stage="environment", pool="rollout", seconds=50.0, model="policy")


def test_a_step_longer_than_its_busiest_pool_says_for_what_it_waits() -> None:
    assert waits(_time(100.0, TRAIN, SAMPLE)) == ["pool rollout works 90 s of a step and waits 10 s for pool train"]


def test_the_environment_lies_within_generating() -> None:
    time = _time(100.0, TRAIN, SAMPLE, WORLD)
    assert waits(time) == waits(_time(100.0, TRAIN, SAMPLE))
    assert "environment, within generate" in to_text(*sections(time), width=100)


def test_a_single_pool_and_a_step_of_one_pool_wait_for_nothing() -> None:
    assert waits(_time(200.0, TRAIN)) == []
    assert waits(_time(90.0, TRAIN, SAMPLE)) == []
