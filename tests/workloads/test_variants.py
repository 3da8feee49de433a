"""Ways to run a job: clean data, stored log-probabilities, scoring pools, bins of the value model."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.errors import NotSupportedError
from rlopt.units import Money
from rlopt.workloads import ALGORITHMS, build_workload
from rlopt.workloads.variants import Variant, workload_variants
from tests.workloads.asked import models, request

NAMES = [module.NAME for module in ALGORITHMS]
COLOCATED = {"placements": ["colocated"]}


def variants(algorithm: str, job: dict[str, Any] | None = None, **sections: Any) -> tuple[Variant, ...]:
    return workload_variants(request(algorithm, job, **sections), models(algorithm))


@pytest.mark.parametrize("algorithm", ["sft", "rm", "grpo", "vla"])
def test_a_job_with_nothing_open_has_one_way(algorithm: str) -> None:
    job = {"filter": {"drop": 0.5}} if algorithm == "vla" else {}
    (only,) = variants(algorithm, job)
    assert only.workload.stages == build_workload(request(algorithm, job), models(algorithm)).stages
    assert (only.log_probs, only.scoring, only.own, only.once) == (None, None, (), ())
    assert only.training is only.workload


def test_cleaning_is_open_where_it_has_a_price() -> None:
    data = {"extra_epochs_if_dirty": 0.3, "clean_price": Money(0.02, "USD")}
    dirty, clean = variants("rm", {"data": data, "steps": 1000})
    assert (dirty.cleaned, dict(dirty.steps)) == (False, {1: 1300})
    assert (clean.cleaned, dict(clean.steps)) == (True, {1: 1000})
    assert dirty.structure_key == clean.structure_key
    (stated,) = variants("rm", {"data": {"extra_epochs_if_dirty": 0.3, "cleaned": True}})
    assert stated.cleaned


def test_a_stored_reference_leaves_the_step_and_the_memory() -> None:
    each, once = variants("dpo", {"steps": None, "epochs": 2, "dataset_samples": 1000})
    assert (each.log_probs, each.once, each.stored_bytes) == ("recompute", (), None)
    assert [role.name for role in each.workload.roles] == ["policy", "reference"]
    assert once.log_probs == "stored"
    assert [role.name for role in once.workload.roles] == ["policy"]
    assert [(s.kind, s.role) for s in once.workload.stages] == [("update", "policy")]
    assert [(s.kind, s.role) for s in once.once] == [("forward", "reference")]
    assert [role.name for role in once.once_roles] == ["reference"]
    # 1000 pairs are 2000 sequences, each scored once although two epochs run; a sum of 4 bytes is kept of each
    assert once.once_sequences == 2000
    assert once.stored_bytes == {1: 8000.0}
    assert each.structure_key != once.structure_key


def test_without_a_known_data_set_every_pair_of_the_run_is_scored() -> None:
    once = variants("dpo", {"steps": 100})[1]
    assert once.once_sequences == 2 * 16 * 100


def test_a_dpo_without_reference_has_nothing_to_store() -> None:
    asked = request("dpo", {"models": {"policy": "text", "reference": "none"}})
    (only,) = workload_variants(asked, {"policy": models("dpo")["policy"]})
    assert only.log_probs is None


def test_cached_samples_keep_what_frozen_models_said_of_them() -> None:
    job = {"cache_hit_rate": 0.25}
    each, stored = variants("grpo", job)
    assert (each.log_probs, stored.log_probs) == ("recompute", "stored")
    reference = [s for s in stored.workload.stages if s.role == "reference"]
    assert [stored.workload.sequences(s, 4) for s in reference] == [48.0]
    policy = [s for s in stored.workload.stages if (s.kind, s.role) == ("forward", "policy")]
    assert [stored.workload.sequences(s, 4) for s in policy] == [64.0]  # it changes: its own must be computed anew
    # a quarter of 16 · 4 samples and 100 steps, 300 tokens of 4 bytes
    assert stored.stored_bytes == {4: 0.25 * 64 * 100 * 300 * 4.0, 8: 0.25 * 128 * 100 * 300 * 4.0}
    known = variants("grpo", job | {"dataset_samples": 20})[1]
    assert known.stored_bytes == {4: 20 * 4 * 300 * 4.0, 8: 20 * 8 * 300 * 4.0}


def test_without_a_cache_samples_are_always_new() -> None:
    assert {v.log_probs for v in variants("grpo")} == {None}


@given(st.floats(0.01, 0.99))
def test_storing_never_scores_more(hits: float) -> None:
    each, stored = variants("opd", {"cache_hit_rate": hits}, choices=COLOCATED)
    for before, after in zip(each.workload.stages, stored.workload.stages, strict=True):
        assert stored.workload.sequences(after, 1) <= each.workload.sequences(before, 1)


def test_teachers_and_reward_models_may_score_apart() -> None:
    shared, own = variants("opd")
    assert (shared.scoring, shared.own, own.scoring, own.own) == ("shared", (), "own", ("teacher",))
    assert [role.name for role in own.training.roles] == ["policy"]
    assert [(s.kind, s.role) for s in own.scoring_stages] == [("forward", "teacher")]
    assert all(stage.role == "policy" for stage in own.training.stages)
    assert shared.scoring_stages == ()
    assert [v.own for v in variants("ppo")] == [(), ("reward",)]


def test_one_pool_leaves_no_pool_apart() -> None:
    (only,) = variants("opd", choices=COLOCATED)
    assert only.scoring == "shared"
    with pytest.raises(NotSupportedError, match=r"choices\.scoring"):
        variants("opd", choices=COLOCATED | {"scoring": ["own"]})


def test_bins_come_with_their_steps() -> None:
    table = {"steps": None, "value_convergence": {51: 90, 101: 70, 201: 60}}
    found = variants("vla", table, choices={"value_bins": [51, 201, 301], **COLOCATED})
    assert [(v.value_bins, dict(v.steps)) for v in found] == [(51, {1: 90}), (201, {1: 60})]
    assert [v.workload.role("value").outputs for v in found] == [51, 201]
    floor = variants("vla", choices=COLOCATED)
    assert [v.value_bins for v in floor] == [201]


def test_dimensions_multiply() -> None:
    data = {"extra_epochs_if_dirty": 0.5, "clean_price": Money(0.01, "USD")}
    found = variants("opd", {"data": data, "cache_hit_rate": 0.5})
    assert len(found) == 2 * 2 * 2
    assert len({(v.cleaned, v.log_probs, v.scoring) for v in found}) == 8
    assert len({v.structure_key for v in found}) == 3  # a teacher apart leaves nothing to store in the training pool


@pytest.mark.parametrize("algorithm", NAMES)
def test_every_way_has_steps(algorithm: str) -> None:
    for variant in variants(algorithm):
        assert set(variant.steps) == set(variant.workload.group_sizes)
        assert variant.workload.steps is variant.steps
