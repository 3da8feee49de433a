"""``--set key=value``: a change of the file for one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import Complaint

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]


def test_values_are_yaml(bases: dict[str, str], load: Load) -> None:
    request = load(
        bases["grpo"], "limits.deadline=2.5h", "choices.gpus=[H100, L40S]", "job.trainable={lora_rank: 8}",
        "job.packing=false", "choices.group_size=[4]",
    )  # fmt: skip
    assert request.limits.deadline == 9000
    assert request.choices.gpus == ("H100", "L40S")
    assert request.job.trainable.lora_rank == 8
    assert request.job.packing is False
    assert request.group_sizes == (4,)


def test_a_later_change_wins_and_may_contain_an_equals_sign(bases: dict[str, str], load: Load) -> None:
    request = load(bases["grpo"], "job.name=a", "job.name='b=c'")
    assert request.job.name == "b=c"


def test_new_sections_and_keys_come_into_being(bases: dict[str, str], load: Load) -> None:
    request = load(bases["sft"], "costs.keep_for.logs=0s", "job.data.cleaned=true")
    assert request.costs.keep_for.logs == 0
    assert request.job.data.cleaned


def test_items_of_lists_by_index(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"].replace(
        "deadline: 24h", "quotas: [{provider: aws, max_gpus: 8}, {provider: gcp, max_gpus: 0}]"
    )
    for key in ("limits.quotas.1.max_gpus", "limits.quotas[1].max_gpus"):
        quotas = load(text, f"{key}=16").limits.quotas
        assert [(quota.provider, quota.max_gpus) for quota in quotas] == [("aws", 8), ("gcp", 16)]


def test_null_removes(bases: dict[str, str], load: Load) -> None:
    request = load(bases["grpo"], "limits.deadline=null", "job.steps=null", "job.convergence={8: 40}")
    assert request.limits.deadline is None
    assert request.job.steps_for(8) == 40


def test_numbers_as_keys(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"].replace("steps: 100", "convergence: {8: 700}")
    assert load(text, "job.convergence.8=650").job.steps_for(8) == 650


def test_presets_can_be_added(bases: dict[str, str], load: Load) -> None:
    assert load(bases["grpo"], "extends=[grpo, strict]").floors.on_demand_share == 1


def test_loosening_from_outside_needs_a_reason_too(bases: dict[str, str], load: Load, complain: Complain) -> None:
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [grpo]")
    (found,) = complain(text, "floors.group_size=2")
    assert (found.file, found.line, found.key) == ("--set", None, "floors.group_size")
    request = load(text, "floors.group_size=2", "floors.because=an easy task")
    assert request.reasons == ("floors.group_size: 2 instead of 8 (preset grpo): an easy task",)


def test_places_of_changes_are_the_command_line(bases: dict[str, str], load: Load) -> None:
    source = load(bases["grpo"], "limits.deadline=3h").source
    assert source.locate("limits.deadline") == ("--set", None)
    assert source.locate("limits.budget")[1] == 14


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ("limits.dedline=3h", "limits.dedline", "unknown key"),
        ("limits.deadline=3", "limits.deadline", "has no unit"),
        ("limits.deadline", "limits.deadline", "is no KEY=VALUE"),
        ("=3h", "", "is no KEY=VALUE"),
        (".=3h", ".", "is no KEY=VALUE"),
        ("limits.deadline=", "limits.deadline", "has no value"),
        ("limits.deadline=[", "limits.deadline", "is not YAML"),
        ("limits.deadline=a: b: c", "limits.deadline", "is not YAML"),
        ("job.steps.more=3", "job.steps.more", "job.steps is 100, not a map"),
        ("choices.group_size.7=3", "choices.group_size.7", "is a list of 1"),
        ("choices.group_size.x=3", "choices.group_size.x", "is a list of 1"),
        ("job.tags={a: 1, a: 2}", "job.tags.a", "is given twice"),
        ("a.b.c.d.e.f.g.h.i.j.k.l=1", "a.b.c.d.e.f.g.h.i.j.k.l", "is no KEY=VALUE"),
        ("job.name=!!python/none x", "job.name", "tag"),
    ],
)
def test_changes_that_are_wrong(change: str, key: str, message: str, bases: dict[str, str], complain: Complain) -> None:
    found = complain(bases["grpo"], change)[0]
    assert found.file == "--set"
    assert found.line is None
    assert found.key == key
    assert message in found.message
    assert found.fix


def test_all_wrong_changes_come_at_once(bases: dict[str, str], complain: Complain) -> None:
    assert len(complain(bases["grpo"], "limits.deadline=", "job.steps.more=3")) == 2
