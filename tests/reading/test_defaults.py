"""What `rlopt check` says of keys that a request leaves at a default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.default_rows import rows
from rlopt.reports.check.defaults import defaults, is_left
from rlopt.request.schema import json_schema

FACTS = load_catalog()

Load = Callable[..., Any]


def _keys(schema: Mapping[str, Any], node: Mapping[str, Any], depth: int = 12) -> set[str]:
    """Dotted keys below a node of the schema, those of every form that it may take."""
    found: set[str] = set()
    for form in (node, *node.get("anyOf", ()), *node.get("allOf", ())):
        if "$ref" in form and depth:
            found |= _keys(schema, schema["$defs"][form["$ref"].rpartition("/")[2]], depth - 1)
        for name, part in form.get("properties", {}).items():
            found |= {name, *(f"{name}.{key}" for key in _keys(schema, part, depth - 1))}
    return found


def test_every_row_names_a_key_of_the_schema_once() -> None:
    schema = json_schema()
    known = _keys(schema, schema)
    assert [row.key for row in rows(FACTS) if row.key not in known] == []
    assert len({row.key for row in rows(FACTS)}) == len(rows(FACTS))
    assert len({group for group, _ in groupby(rows(FACTS), key=lambda row: row.group)}) <= 7
    assert len(list(groupby(rows(FACTS), key=lambda row: row.group))) == len({row.group for row in rows(FACTS)})


def test_every_lever_and_small_item_has_its_row() -> None:
    """Those that a check says in sentences of their own stand apart: policy_loss and bytes_per_frame."""
    levers = {
        "job.data": "prepare.vcpu_seconds_per_sample accesses_per_month backup versions_kept collect_price "
        "accepted_share inspect tools compression_ratio versions",
        "job": "divergences trials offline pairs pilots compression filter.before_storage kernels.loss cache "
        "models.teacher.teacher_training models.reward.cpu evaluation.build_price metrics.traces.spans_per_step",
        "choices": "data_store action_head",
        "floors": "reward_quality value_params",
        "recovery": "spare_nodes replace_wait launcher",
        "checkpoint": "rollouts",
        "limits": "deadline_from wait cut_off storage",
        "costs": "waiting_people hours_per_failure hours_per_trial dashboards logs_to",
    }
    wanted = {f"{where}.{name}" for where, names in levers.items() for name in names.split()}
    assert wanted <= {row.key for row in rows(FACTS)}


def test_they_are_grouped_into_a_few_lines(bases: dict[str, str], load: Load) -> None:
    for text in bases.values():
        lines = list(defaults(load(text), FACTS))
        assert 5 <= len(lines) <= 7
        assert all(line.startswith("at defaults, ") for line in lines)


@pytest.mark.parametrize(
    ("algorithm", "key", "written", "says"),
    [
        ("grpo", "costs.on_call_hours_per_day", "2", "nobody is on call; an hour a day would cost 90 USD"),
        ("grpo", "costs.idle.automatic", "{within: 5min}", "no script releases them sooner"),
        ("grpo", "costs.dashboards", "{panels: 2, price: 3 USD}", "none are paid"),
        ("grpo", "job.metrics.traces.spans_per_step", "100", "no spans are written"),
        ("grpo", "job.text_log", "{debug_steps: 3}", "no text of abnormal samples or debugged steps"),
        ("grpo", "job.cache", "{replay: 1 GiB}", "nothing is held in a fast store"),
        ("grpo", "job.trials", "3", "one run; each trial or rerun would add a whole run to the bill"),
        ("grpo", "job.trials", "1", "one run; each trial or rerun would add a whole run to the bill"),
        ("grpo", "job.divergences", "0.5", "no run collapses"),
        ("grpo", "job.pilots", "{runs: 2, share: 0.1}", "no small runs before the job"),
        ("grpo", "costs.hours_per_failure", "2", "finding what broke takes nobody; an hour a failure"),
        ("grpo", "recovery.spare_nodes", "[0, 1]", "none stand ready"),
        ("grpo", "checkpoint.rollouts", "{every: 512}", "unfinished responses are lost at a stop"),
        ("grpo", "limits.wait", "6h", "machines are there as soon as they are ordered"),
        ("sft", "job.data.accesses_per_month", "0.5", "nothing is read beside the runs"),
        ("sft", "job.remedial_share", "0.1", "no training against forgetting"),
        ("sft", "job.data.prepare.vcpu_seconds_per_sample", "0.01", "decoding and shuffling take no time"),
        ("vla", "job.divergences", "0.5", "no run collapses"),
    ],
)
def test_a_key_is_named_until_it_is_written(
    algorithm: str, key: str, written: str, says: str, bases: dict[str, str], load: Load
) -> None:
    people = "costs.engineer_hour=90 USD"
    before = " ".join(defaults(load(bases[algorithm], people), FACTS))
    assert f"{key}: {says}" in before
    after = load(bases[algorithm], people, f"{key}={written}")
    assert not is_left(after, key)
    assert f"{key}:" not in " ".join(defaults(after, FACTS))


def test_what_a_default_costs_is_said_in_money(bases: dict[str, str], load: Load) -> None:
    # 900 accepted of 1000 at 0.40 + 0.10 USD each: 100 rejected ones cost 50 USD
    bought = ("job.data.new_samples=900", "job.data.label_price=0.4 USD", "job.data.collect_price=0.1 USD")
    text = " ".join(defaults(load(bases["sft"], *bought), FACTS))
    assert "job.data.accepted_share: all new samples pass; at 0.9, 100 rejected ones would cost 50 USD more" in text
    assert "job.data.collect_price" not in text
    minutes = load_catalog().operations.idle_minutes
    assert f"machines are paid for {minutes:g} min after each run" in text
    assert "job.data.accepted_share" not in " ".join(defaults(load(bases["sft"]), FACTS))


def test_incremental_training_keeps_nothing_by_default(bases: dict[str, str], load: Load) -> None:
    more = ("job.data.incremental=true", "job.data.new_samples=900", "job.dataset_samples=9000")
    grown = bases["sft"].replace("steps: 100", "epochs: 1")
    assert "job.data.versions_kept: nothing is kept of earlier" in " ".join(defaults(load(grown, *more), FACTS))
    assert "job.data.versions_kept" not in " ".join(defaults(load(bases["sft"]), FACTS))


def test_pairs_are_there_by_default(bases: dict[str, str], load: Load) -> None:
    dpo = bases["sft"].replace("sft", "dpo")
    assert "job.pairs: the pairs are there, making them costs nothing" in " ".join(defaults(load(dpo), FACTS))
    for text, changes in ((dpo, ("job.pairs={judge: rule}",)), (bases["sft"], ())):
        assert "job.pairs" not in " ".join(defaults(load(text, *changes), FACTS))


def test_models_of_a_choice(bases: dict[str, str], load: Load) -> None:
    line = "job.models.teacher.teacher_training: the teacher is at hand, making it costs nothing"
    opd = bases["grpo"].replace("grpo", "opd").replace("reward: rule", "teacher: Qwen/Qwen3-32B")
    assert line in " ".join(defaults(load(opd), FACTS))
    several = "{policy: Qwen/Qwen2.5-0.5B, reward: [{model: some/a, accuracy: 0.7}, {model: some/b, accuracy: 0.8}]}"
    choice = bases["grpo"].replace("{policy: Qwen/Qwen2.5-0.5B, reward: rule}", several)
    said = " ".join(defaults(load(choice), FACTS))
    assert "floors.reward_quality: a reward model may be chosen however" in said
    assert "job.models.reward.cpu: reward models score on GPUs alone" in said
    timed = choice.replace("accuracy: 0.7", "accuracy: 0.7, cpu: {vcpu_seconds_per_sample: 2, vcpus: 4}")
    for text in (timed, bases["grpo"]):
        assert "job.models.reward.cpu" not in " ".join(defaults(load(text), FACTS))
    for text, changes in ((choice, ("floors.reward_quality=0.7",)), (bases["grpo"], ())):
        assert "floors.reward_quality" not in " ".join(defaults(load(text, *changes), FACTS))


def test_what_more_trials_and_waits_bring_up(bases: dict[str, str], load: Load) -> None:
    text = " ".join(
        defaults(load(bases["grpo"], "costs.engineer_hour=90 USD", "job.trials=3", "limits.wait=2h"), FACTS)
    )
    assert "limits.cut_off: every trial is billed to its end" in text
    assert "costs.hours_per_trial: rework before a further trial takes nobody; an hour a trial would cost 90" in text
    assert "costs.waiting_people: nobody waits for the machines" in text
    assert "limits.deadline_from: the deadline starts with the machines" in text
    alone = " ".join(defaults(load(bases["grpo"], "costs.engineer_hour=90 USD"), FACTS))
    assert not any(key in alone for key in ("cut_off", "hours_per_trial", "waiting_people", "deadline_from"))


def test_kernels_that_are_a_choice_are_no_default(bases: dict[str, str], load: Load) -> None:
    assert "job.kernels.loss: whole, the logits" in " ".join(defaults(load(bases["grpo"]), FACTS))
    assert "job.kernels.loss" not in " ".join(
        defaults(load(bases["grpo"], "choices.kernels.loss=[whole, chunked]"), FACTS)
    )


def test_the_size_of_a_value_model(bases: dict[str, str], load: Load) -> None:
    valued = bases["vla"].replace("{policy: some/vla}", "{policy: some/vla, value: some/value}")
    bins = "choices.value_bins=[201]"
    assert "floors.value_params: a value model of any size will do" in " ".join(defaults(load(valued, bins), FACTS))
    for text, changes in ((valued, (bins, "floors.value_params=500M")), (bases["vla"], ())):
        assert "floors.value_params" not in " ".join(defaults(load(text, *changes), FACTS))


def test_people_without_a_price_are_said_once(bases: dict[str, str], load: Load) -> None:
    assert not any(line.startswith("at defaults, people") for line in defaults(load(bases["grpo"]), FACTS))


def test_what_does_not_apply_is_not_named(bases: dict[str, str], load: Load) -> None:
    sft, grpo = (" ".join(defaults(load(bases[name]), FACTS)) for name in ("sft", "grpo"))
    assert "job.remedial_share" in sft
    assert "job.remedial_share" not in grpo
    assert "choices.action_head" not in grpo
    assert "job.filter.before_storage" not in grpo
    dropping = " ".join(defaults(load(bases["grpo"], "job.filter.drop=0.25"), FACTS))
    assert "job.filter.before_storage: the 25% of samples that are dropped are stored too" in dropping
    assert "job.evaluation.build_price" not in grpo  # without an evaluation there is nothing to build
    with_evaluation = load(bases["grpo"], "job.evaluation={every: 10, samples: 100}")
    assert "job.evaluation.build_price: building the evaluation set" in " ".join(defaults(with_evaluation, FACTS))
