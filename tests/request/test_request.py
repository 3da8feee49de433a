"""The request's records: what they derive, and how they change."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rlopt.request import (
    FLOOR_GROUPS,
    TIGHTNESS,
    Floors,
    InlineModel,
    KeyPlaces,
    ModelRef,
    Request,
    SetupHours,
    Trainable,
    VisionInput,
    informative_group_size,
)
from rlopt.units import Money
from rlopt.words import Placement, Precision
from tests.request.jobs import JOB, job, request


@given(
    epochs=st.decimals("0.01", "10", places=2),
    samples=st.integers(1, 10**7),
    prompts=st.integers(1, 4096),
    extra=st.decimals("0", "2", places=2),
)
def test_steps_are_exact_ceilings(epochs: Any, samples: int, prompts: int, extra: Any) -> None:
    found = job(steps=None, epochs=float(epochs), dataset_samples=samples, prompts_per_step=prompts,
                data={"extra_epochs_if_dirty": float(extra)})  # fmt: skip
    assert found.steps_for(8, cleaned=True) == max(1, math.ceil(epochs * samples / prompts))
    dirty = epochs * samples * (1 + extra) / prompts
    assert found.steps_for(8) == max(1, math.ceil(dirty))


def test_steps_by_convergence_and_by_number() -> None:
    assert job().steps_for(3) == 100
    table = job(steps=None, convergence={8: 700, 16: 600})
    assert [table.steps_for(size) for size in (8, 16, 4, None)] == [700, 600, None, None]
    assert request(
        choices={"group_size": [4, 8, 16]}, job={**JOB, "steps": None, "convergence": {8: 1}}
    ).group_sizes == (8,)


def test_incremental_training_runs_over_the_new_samples() -> None:
    found = job(steps=None, epochs=2, dataset_samples=10_000, data={"new_samples": 640, "incremental": True})
    assert found.steps_for(None) == 20


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        ({"dataset_size": 5e9}, 5e9),
        ({}, 64 * 100 * 100 * 4.0),
        ({"dataset_samples": 10}, 10 * 100 * 4.0),
        ({"algorithm": "sft"}, 64 * 100 * 200 * 4.0),
        ({"algorithm": "dpo"}, 64 * 100 * 300 * 4.0),
        ({"algorithm": "vla"}, 0.0),
        ({"steps": None, "convergence": {4: 10, 8: 20}}, 64 * 20 * 100 * 4.0),
    ],
)
def test_size_of_the_data_set(keys: dict[str, Any], size: float) -> None:
    assert job(**keys).dataset_bytes(4.0) == size


def test_cleaning_is_open_when_it_has_a_price() -> None:
    assert job(data={"clean_price": "0.02 USD"}).cleaning_is_open
    assert not job(data={"clean_price": "0.02 USD", "cleaned": True}).cleaning_is_open
    assert not job().cleaning_is_open


def test_placements_in_play() -> None:
    assert request().placements == tuple(Placement)
    assert request(choices={"placements": ["async"]}).placements == ("async",)
    sft = request(job={**JOB, "algorithm": "sft"}, choices={"placements": ["colocated", "async"]})
    assert sft.placements == ("colocated",)


@given(rate=st.floats(0.01, 0.99), share=st.floats(0, 0.99))
def test_informative_groups_give_the_smallest_size(rate: float, share: float) -> None:
    def informative(size: int) -> float:
        return 1 - rate**size - (1 - rate) ** size

    size = informative_group_size(rate, share)
    assert size is not None
    assert informative(size) >= share
    assert size == 1 or informative(size - 1) < share


def test_informative_groups_that_no_size_reaches() -> None:
    assert informative_group_size(1e-9, 0.9) is None
    assert informative_group_size(0.5, 0.0) == 1
    assert informative_group_size(0.5, 0.5) == 2
    assert informative_group_size(0.5, 0.9) == 5


def test_the_floor_of_the_group_size_is_the_larger_one() -> None:
    floors = {"group_size": 4, "informative_groups": 0.9}
    assert request(floors=floors).group_size_floor == 4
    assert request(job={**JOB, "pass_rate": 0.5}, floors=floors).group_size_floor == 5
    assert request(job={**JOB, "pass_rate": 0.5}, floors={**floors, "group_size": 9}).group_size_floor == 9
    assert request().group_size_floor is None


def test_every_floor_has_an_order() -> None:
    names = {name for name in Floors.model_fields if name not in ("because", *FLOOR_GROUPS)}
    inner = {f"{group}.{name}" for group in FLOOR_GROUPS for name in type(getattr(Floors(), group)).model_fields}
    assert FLOOR_GROUPS == ("checkpoints", "core_metrics")
    assert set(TIGHTNESS) == names | inner
    rank = TIGHTNESS["update_precision"]
    assert sorted(Precision, key=rank) == ["fp4", "int4", "fp8", "int8", "bf16", "fp16", "fp32"]
    assert rank("fp16") == rank("bf16") < rank("fp32")
    assert TIGHTNESS["max_staleness"](0) > TIGHTNESS["max_staleness"](1)


def test_money_in_dollars() -> None:
    costs = {"exchange_rates": {"CNY": "0.14 USD"}}
    found = request(costs=costs, limits={"budget": "100 CNY", "hourly_budget": "3 USD"})
    assert found.budget_usd == pytest.approx(14)
    assert found.hourly_budget_usd == 3
    assert found.costs.usd_per_unit("EUR") is None
    assert request().budget_usd is None
    with pytest.raises(KeyError, match="EUR"):
        found.costs.usd(Money(1, "EUR"))


def test_hours_with_and_without_unit() -> None:
    hours = SetupHours.model_validate(
        {"colocated": 4, "disaggregated": "90min", "async": "2d"}, context={"written": True}
    )
    assert [hours.of(name) for name in Placement] == [4, 1.5, 48]


def test_one_value_replaced() -> None:
    base = request(limits={"deadline": 3600.0})
    changed = base.replaced("limits.deadline", 7200.0).replaced("floors.checkpoints.keep_recent", 3)
    assert (changed.limits.deadline, changed.floors.checkpoints.keep_recent) == (7200.0, 3)
    assert base.limits.deadline == 3600.0
    assert base.floors.checkpoints.keep_recent is None
    with pytest.raises(KeyError):
        base.replaced("limits.dedline", 1.0)


def test_a_request_is_frozen_and_travels() -> None:
    base = request(limits={"budget": "5 USD"}, choices={"regions": {"aws": ["us-east-1"], "gcp": "any"}})
    with pytest.raises(ValidationError):
        base.limits.deadline = 3.0
    assert pickle.loads(pickle.dumps(base)) == base
    assert Request.model_validate_json(base.model_dump_json(by_alias=True)) == base


def test_where_keys_stand() -> None:
    source = KeyPlaces({"limits": ("f", 3), "limits.quotas[1]": ("f", 7), "job": ("g", 1)}, "f")
    assert source.locate("limits.quotas[1].gpu") == ("f", 7)
    assert source.locate("limits.quotas[0].gpu") == ("f", 3)
    assert source.locate("job.models.policy") == ("g", 1)
    assert source.locate("floors.group_size") == ("f", None)
    assert source == KeyPlaces()
    assert hash(source) == hash(KeyPlaces())


def test_regions() -> None:
    assert request(choices={"regions": "any"}).choices.regions is None
    assert request(choices={"regions": ["a", "b", "a"]}).choices.regions == ("a", "b")
    found = request(choices={"regions": {"aws": ["a"], "gcp": "any"}}).choices.regions
    assert found == {"aws": ("a",), "gcp": "any"}


def test_ways_to_name_a_model() -> None:
    read = ModelRef.model_validate
    assert read("policy").is_policy
    assert read("none").is_none
    assert read("rule").is_rule
    assert not read("rule").is_model
    assert read("Qwen/Qwen3-8B").name == read("Qwen/Qwen3-8B").label == "Qwen/Qwen3-8B"
    assert read("a/config.json").path == "a/config.json"
    with pytest.raises(ValidationError, match="exactly one"):
        read({"name": "a", "path": "b"})


def test_an_inline_shape_is_completed() -> None:
    shape = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
    model = InlineModel.model_validate(shape)
    assert (model.kv_heads, model.head_dim, model.gated, model.tie_embeddings) == (4, 16, True, False)
    moe = InlineModel.model_validate({**shape, "ffn": None, "experts": 8, "active_experts": 2, "expert_ffn": 32})
    assert moe.ffn == 0
    with pytest.raises(ValidationError, match="head_dim"):
        InlineModel.model_validate({**shape, "hidden": 65})


@pytest.mark.parametrize(
    "wrong",
    [
        {"kv_heads": 8},
        {"ffn": 0},
        {"active_experts": 2},
        {"experts": 4, "active_experts": 8, "expert_ffn": 3},
        {"params": 5000, "active_params": 6000},
        {"params": 5000, "vlm_params": 4000, "action_params": 2000},
    ],
)
def test_an_inline_shape_that_cannot_be(wrong: dict[str, Any]) -> None:
    shape = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100, **wrong}
    with pytest.raises(ValidationError):
        InlineModel.model_validate(shape)


def test_what_is_trained() -> None:
    read = Trainable.model_validate
    assert read("full").kind == "full"
    assert read({"lora_rank": 8}) == Trainable(kind="lora", lora_rank=8)
    assert read({"lora_rank": 8, "base": "int4"}).base == "int4"
    assert read({"frozen": ["vision", "vision"]}).frozen == ("vision",)


def test_image_tokens_without_pooling() -> None:
    assert VisionInput.model_validate({"image_size": 448, "cameras": 3}).tokens == 3 * 32 * 32


def test_the_value_model_scores_once_per_inference() -> None:
    action = {"head": "one_step", "chunk": 50, "frequency": 25.0}
    assert job(action=action).value_stride_seconds == 2.0
    assert job(action=action, value_stride=1.0).value_stride_seconds == 1.0
    assert job().value_stride_seconds is None


@pytest.mark.parametrize(
    "action",
    [
        {"head": "flow"},
        {"head": "tokens"},
        {"head": "flow", "flow_steps": 3, "policy_loss": "reinforce"},
    ],
)
def test_action_heads_need_their_own_keys(action: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        job(action={"chunk": 50, "frequency": 25.0, **action})


@pytest.mark.parametrize(
    "environment",
    [
        {"kind": "tools"},
        {
            "kind": "tools",
            "calls_per_sample": {"mean": 1, "max": 2},
            "seconds_per_call": {"mean": 3.0, "max": 2.0},
        },
        {
            "kind": "tools",
            "calls_per_sample": {"mean": 3, "max": 2},
            "seconds_per_call": {"mean": 1.0, "max": 2.0},
        },
        {"kind": "simulator", "instances": 3},
        {"kind": "robot"},
        {"kind": "robot", "instances": 3, "steps_per_second": 3},
    ],
)
def test_environments_that_miss_or_mix_keys(environment: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        job(environment=environment)
