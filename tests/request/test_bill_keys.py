"""What a job logs, holds and keeps: the records behind the bill's smaller lines."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rlopt.request import (
    TIGHTNESS,
    Cache,
    Choices,
    Costs,
    Environment,
    Metrics,
    TextLog,
)
from rlopt.units import GIB, Money
from rlopt.words import DataPrecision
from tests.request.jobs import JOB, job, request

VLA: dict[str, Any] = {**JOB, "algorithm": "vla", "models": {"policy": "a/b", "value": "c/d"}, "steps": None}


def test_defaults_are_what_tools_write_on_their_own() -> None:
    found = Metrics()
    assert (found.scalars, found.hardware, found.hardware_every) == (25, 2, 60.0)
    assert (found.histograms, found.intermediates, found.every) == (0, 0, 1)
    assert TextLog() == TextLog(abnormal_share=0, anomalies=1, debug_steps=0, debug_rate=1)
    assert job().cache is None
    assert job().fallback.share_of_steps == job().remedial_share == 0.0


def test_by_hand_gaps_between_points() -> None:
    assert Metrics(every=5).longest_gap_steps == 5
    assert Metrics(every=5, thin_after=0.2, thin_to=0.1).longest_gap_steps == pytest.approx(50)
    assert Metrics(thin_after=0.5, thin_to=0.0).longest_gap_steps == math.inf


@given(every=st.integers(1, 10**6), after=st.floats(0, 0.99), to=st.floats(0.001, 0.99))
def test_thinning_never_closes_a_gap(every: int, after: float, to: float) -> None:
    assert Metrics(every=every, thin_after=after, thin_to=to).longest_gap_steps >= every


@pytest.mark.parametrize("keys", [{"thin_after": 0.5}, {"thin_to": 0.5}])
def test_half_a_thinning_is_refused(keys: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="thins nothing on its own"):
        Metrics.model_validate(keys)


def test_a_cache_adds_up() -> None:
    cache = Cache.model_validate({"replay": "2 GiB", "index": "1 GiB", "peak_ops": 100}, context={"written": True})
    assert cache.held_bytes == 3 * GIB
    names = ("replay", "index", "reward_intermediates", "good_samples", "transcripts")
    assert Cache.model_validate({name: 2.0**place for place, name in enumerate(names)}).held_bytes == 31
    assert set(Cache.model_fields) == {*names, "peak_ops"}
    items = {"index": {"items": 1000, "bytes_per_item": "2 kB"}, "transcripts": "1 GiB"}
    assert Cache.model_validate(items, context={"written": True}).held_bytes == 2e6 + GIB


def test_versions_and_places_of_data() -> None:
    data = job(data={"versions": {"count": 3, "changed_share": 0.1, "copies": "delta", "raw_kept": True}}).data
    assert data.versions is not None
    assert (data.versions.count, data.versions.copies, data.versions.raw_kept) == (3, "delta", True)
    assert (data.precision, data.shared_by, data.stands_in) == ("source", 1, None)
    with pytest.raises(ValidationError, match="region"):
        job(data={"stands_in": {"provider": "aws"}})


def test_order_of_stored_precisions() -> None:
    rank = TIGHTNESS["data_precision"]
    assert sorted(DataPrecision, key=rank) == ["jpeg75", "jpeg90", "jpeg95", "bf16", "source"]
    assert TIGHTNESS["score_precision"]("bf16") > TIGHTNESS["score_precision"]("fp8")
    assert TIGHTNESS["core_metrics.every"](1) > TIGHTNESS["core_metrics.every"](10)


def test_levers_are_open_when_left_out() -> None:
    choices = Choices()
    assert choices.log_probs == ("recompute", "stored")
    assert choices.scoring == ("shared", "own", "cpu")
    assert choices.mixed_pools is True
    assert choices.value_bins is None
    for key in ("log_probs", "scoring", "value_bins"):
        with pytest.raises(ValidationError):
            Choices.model_validate({key: []})


def test_retention_and_release() -> None:
    costs = Costs.model_validate({"idle": {"automatic": {"within": 300.0, "setup_hours": 2}}})
    assert costs.idle.automatic is not None
    assert (costs.idle.automatic.within, costs.idle.automatic.setup_hours) == (300.0, 2.0)
    assert (costs.idle.before_release, costs.idle.volumes) == (None, 0.0)
    assert (costs.keep_for.logs, costs.keep_for.full_text) == (720 * 3600, 72 * 3600)


def test_only_robots_must_be_counted() -> None:
    assert Environment(kind="simulator", steps_per_second=100.0).instances is None
    with pytest.raises(ValidationError, match="needs instances"):
        Environment(kind="robot")


def test_steps_by_value_bins() -> None:
    table = {"value_convergence": {101: 70, 201: 60}, "data": {"extra_epochs_if_dirty": 0.5}}
    found = job(**{**VLA, **table})
    assert [found.steps_for(1, value_bins=bins, cleaned=True) for bins in (101, 201, 51)] == [70, 60, None]
    assert found.steps_for(1, value_bins=201) == 90
    assert found.steps_for(1, cleaned=True) == 70  # the longest of the table where no bins are named
    asked = request(job={**VLA, **table}, choices={"value_bins": [201, 51]})
    assert asked.value_bins == (201,)
    assert request(job={**VLA, **table}).value_bins == (101, 201)


def test_value_bins_without_a_table_and_without_a_value_model() -> None:
    fixed = {**VLA, "steps": 10}
    assert request(job=fixed, floors={"value_bins": 201}).value_bins == (201,)
    assert request(job=fixed, choices={"value_bins": [51, 101]}).value_bins == (51, 101)
    assert request(job=fixed).value_bins == ()
    bare = {**fixed, "models": {"policy": "a/b", "value": "none"}}
    assert request(job=bare, floors={"value_bins": 201}).value_bins == ()


def test_nothing_below_an_absent_record_is_replaced() -> None:
    with pytest.raises(KeyError):
        request().replaced("job.cache.replay", 1.0)
    assert request().replaced("job.cache", Cache(replay=1.0)).job.cache == Cache(replay=1.0)
    assert request().replaced("job.data.clean_price", Money(1.0, "USD")).job.data.clean_price == Money(1.0, "USD")


def test_reads_of_stored_data_are_one_number_or_by_age() -> None:
    def read(written: object) -> tuple[float, float, float]:
        found = job(data={"accesses_per_month": written}).data.accesses_per_month
        return found.hot, found.warm, found.cold

    assert read(0.5) == (0.5, 0.5, 0.5)
    assert read({"warm": 2}) == (0, 2, 0)
    for wrong in ("often", -1, {"luke": 3}, [1]):
        with pytest.raises(ValidationError):
            read(wrong)
