"""Presets and files under a file: what wins, what merges, and what needs a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlopt.errors import Complaint, InputError
from rlopt.reading.files.layers import preset_names
from rlopt.reading.request_file import load_request
from rlopt.request import FLOOR_GROUPS

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]
ALGORITHMS = {"sft", "dpo", "rm", "ppo", "grpo", "opd", "vla"}


def test_there_is_a_preset_for_every_algorithm() -> None:
    assert set(preset_names()) >= ALGORITHMS | {"base", "strict", "cheap"}


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_and_says_what_it_rests_on(name: str, root: Path, load: Load, bases: dict[str, str]) -> None:
    request = load(bases["grpo"].replace("version: 1", f"version: 1\nextends: [{name}]"))
    assert name in request.presets
    text = (root / "constraints" / f"{name}.yaml").read_text(encoding="utf-8")
    assert any(mark in text for mark in ("arXiv", "github.com", "House rule", "thundercompute"))


def test_the_file_wins_maps_merge_and_lists_are_replaced(write: Callable[..., Path], bases: dict[str, str]) -> None:
    write(
        "choices: {gpus: [H100, A100-80GB], pricing: [spot]}\n"
        "limits: {deadline: 3d, max_gpus: 64}\n"
        "costs: {keep_for: {logs: 48h, checkpoints: 24h}}\n"
        "job: {tags: {team: a, project: b}}\n",
        "house.yaml",
    )
    text = (
        bases["grpo"]
        .replace("version: 1", "version: 1\nextends: [house.yaml]")
        .replace("group_size: [8]", "group_size: [8]\n  gpus: [L40S]")
        .replace("currency: USD", "currency: USD\n  keep_for: {logs: 72h}")
        .replace("name: small", "name: small\n  tags: {team: c}")
    )
    request = load_request(write(text))
    assert request.choices.gpus == ("L40S",)
    assert request.choices.pricing == ("spot",)
    assert (request.limits.deadline, request.limits.max_gpus) == (24 * 3600, 64)
    assert (request.costs.keep_for.logs, request.costs.keep_for.checkpoints) == (72 * 3600, 24 * 3600)
    assert request.costs.keep_for.dataset == 720 * 3600
    assert request.job.tags == {"team": "c", "project": "b"}
    assert request.presets == ("house.yaml",)


def test_null_takes_a_value_away(write: Callable[..., Path], bases: dict[str, str]) -> None:
    write("limits: {max_gpus: 64, quotas: [{max_gpus: 3}]}\n", "house.yaml")
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [house.yaml]")
    request = load_request(write(text.replace("deadline: 24h", "deadline: 24h\n  quotas: null")))
    assert request.limits.quotas == ()
    assert request.limits.max_gpus == 64


def test_a_complaint_names_the_file_that_states_the_value(write: Callable[..., Path], bases: dict[str, str]) -> None:
    write("limits:\n  max_gpus: many\n", "house.yaml")
    path = write(bases["grpo"].replace("version: 1", "version: 1\nextends: [house.yaml]"))
    with pytest.raises(InputError) as caught:
        load_request(path)
    found = caught.value.complaints[0]
    assert (Path(found.file or "").name, found.line, found.key) == ("house.yaml", 2, "limits.max_gpus")


def test_paths_start_at_the_file_that_states_them(write: Callable[..., Path], bases: dict[str, str]) -> None:
    prices = write("a,b\n", "team/prices.csv")
    config = write("{}", "team/model/config.json")
    write("choices: {offers: prices.csv}\njob: {models: {reward: ./model}}\n", "team/house.yaml")
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [team/house.yaml]").replace(", reward: rule", "")
    request = load_request(write(text))
    assert request.choices.offers == str(prices)
    assert Path(request.job.models.reward.path) == config


def test_of_two_presets_side_by_side_the_tighter_floor_holds(load: Load, bases: dict[str, str]) -> None:
    for order in ("[grpo, strict]", "[strict, grpo]"):
        request = load(bases["grpo"].replace("version: 1", f"version: 1\nextends: {order}"))
        floors = request.floors
        assert (floors.group_size, floors.on_demand_share, floors.max_staleness) == (8, 1.0, 0)
        assert floors.checkpoints.history_every == 50
        assert request.floor_origins["on_demand_share"] == "preset strict"
        assert request.floor_origins["group_size"] == "preset grpo"
        assert request.reasons == ()


def test_a_later_preset_with_a_reason_loosens_what_it_states_itself(load: Load, bases: dict[str, str]) -> None:
    request = load(bases["grpo"].replace("version: 1", "version: 1\nextends: [grpo, cheap]"))
    floors = request.floors
    assert (floors.on_demand_share, floors.checkpoints.keep_recent, floors.free_storage) == (0.0, 1, 0.05)
    assert (floors.group_size, floors.samples_per_update, floors.max_staleness) == (8, 512, 1)
    assert any("floors.on_demand_share: 0 instead of 0.25 (preset grpo)" in reason for reason in request.reasons)
    assert floors.because is None


def test_a_reason_of_a_preset_is_forgotten_where_the_floor_is_tight_again(load: Load, bases: dict[str, str]) -> None:
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [grpo, cheap]")
    request = load(text.replace("update_precision: bf16", "on_demand_share: 0.5"))
    assert not any("on_demand_share" in reason for reason in request.reasons)


LOOSER = (
    ("group_size", "4"),
    ("samples_per_update", "64"),
    ("update_precision", "fp8"),
    ("on_demand_share", "0"),
    ("max_staleness", "2"),
    ("text_log_rate", "0"),
    ("free_storage", "0.05"),
    ("group_size", "null"),
)
TIGHTER = (
    ("group_size", "16"),
    ("samples_per_update", "512"),
    ("update_precision", "fp32"),
    ("update_precision", "fp16"),
    ("on_demand_share", "1"),
    ("max_staleness", "0"),
    ("text_log_rate", "0.01"),
    ("free_storage", "0.3"),
    ("checkpoints", "{keep_recent: 3, history_every: 50, recovery_time: 15min}"),
)


def _with_floor(bases: dict[str, str], line: str) -> str:
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [grpo]")
    return text.replace("update_precision: bf16", line)


@pytest.mark.parametrize(("floor", "value"), LOOSER)
def test_loosening_needs_a_reason(
    floor: str, value: str, bases: dict[str, str], load: Load, complain: Complain
) -> None:
    found = complain(_with_floor(bases, f"{floor}: {value}"))
    assert (found[0].line, found[0].key) == (17, f"floors.{floor}")
    assert "no reason is given" in found[0].message
    assert "because" in found[0].fix
    for line in (
        f"{floor}: {{value: {value}, because: we tried it}}",
        f"{floor}: {value}\n  because: we tried it",
    ):
        request = load(_with_floor(bases, line))
        assert len(request.reasons) == 1
        assert f"floors.{floor}: " in request.reasons[0]
        assert "instead of" in request.reasons[0]
        assert request.reasons[0].endswith(": we tried it")


@pytest.mark.parametrize(("floor", "value"), TIGHTER)
def test_tightening_is_free(floor: str, value: str, bases: dict[str, str], load: Load) -> None:
    assert load(_with_floor(bases, f"{floor}: {value}")).reasons == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [("keep_recent", "1"), ("keep_best", "0"), ("history_every", "200"), ("recovery_time", "1h")],
)
def test_checkpoint_floors_loosen_one_by_one(
    name: str, value: str, bases: dict[str, str], load: Load, complain: Complain
) -> None:
    found = complain(_with_floor(bases, f"checkpoints: {{{name}: {value}}}"))
    assert found[0].key == f"floors.checkpoints.{name}"
    for line in (
        f"checkpoints: {{{name}: {{value: {value}, because: a small disk}}}}",
        f"checkpoints: {{{name}: {value}, because: a small disk}}",
        f"checkpoints: {{value: {{{name}: {value}}}, because: a small disk}}",
    ):
        (reason,) = load(_with_floor(bases, line)).reasons
        assert f"checkpoints.{name}" in reason


def test_the_reason_of_one_floor_does_not_cover_another(bases: dict[str, str], complain: Complain) -> None:
    line = "group_size: {value: 4, because: an easy task}\n  max_staleness: 4"
    assert [c.key for c in complain(_with_floor(bases, line))] == ["floors.max_staleness"]


def test_a_reason_without_a_preset_is_kept_for_the_reports(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"].replace("update_precision: bf16", "on_demand_share: 0\n  because: only a trial")
    assert load(text).reasons == ("floors: only a trial",)
    text = bases["grpo"].replace("update_precision: bf16", "on_demand_share: {value: 0, because: only a trial}")
    assert load(text).reasons == ("floors.on_demand_share: 0: only a trial",)


def test_a_floor_that_no_file_sets_does_not_exist(bases: dict[str, str], load: Load) -> None:
    floors = load(bases["sft"]).floors
    assert all(value is None for name, value in floors if name not in FLOOR_GROUPS)
    assert all(value is None for group in FLOOR_GROUPS for _, value in getattr(floors, group))


def test_one_preset_may_be_named_without_brackets(bases: dict[str, str], load: Load) -> None:
    assert load(bases["grpo"].replace("version: 1", "version: 1\nextends: grpo")).presets == ("base", "grpo")
