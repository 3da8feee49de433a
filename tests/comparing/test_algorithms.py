"""One request read once for each algorithm: what is shared, what gives way, and what nobody may guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlopt import api
from rlopt.errors import InputError, MissingFactError
from rlopt.facts.files.folder import load_catalog
from rlopt.reading.comparison import ComparedRequest, load_compared
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

FILE = """\
version: 1
extends: [grpo]
job:
  algorithm: grpo
  models: {policy: Qwen/Qwen2.5-1.5B, reward: rule}
  prompts_per_step: 64
  steps: 200
  cache_hit_rate: 0.1
  prompt_tokens: {mean: 100, max: 200}
  response_tokens: {mean: 300, max: 900}
choices: {group_size: [8], placements: [disaggregated]}
limits: {max_gpus: 8}
compare:
  sft: {job: {steps: 4000, remedial_share: 0.3}}
  dpo: {job: {epochs: 2, dataset_samples: 6400}}
  ppo:
    job: {steps: 300, models: {critic: policy}}
    choices: {group_size: [1]}
    floors: {samples_per_update: 64, because: value model}
  opd: {job: {steps: 100, models: {teacher: Qwen/Qwen2.5-7B-Instruct}}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "request.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def _by_name(path: Path, *names: str, changes: tuple[str, ...] = ()) -> dict[str, ComparedRequest]:
    return {one.algorithm: one for one in load_compared(path, names, changes)}


def test_policy_data_and_limits_are_shared_and_the_rest_is_each_ones_own(path: Path) -> None:
    found = _by_name(path)
    assert list(found) == ["grpo", "sft", "dpo", "ppo", "opd"]
    own = found["grpo"].request
    for one in found.values():
        job = one.request.job
        assert job.algorithm == one.algorithm
        assert (job.models.policy, job.prompt_tokens, job.response_tokens) == (
            own.job.models.policy,
            own.job.prompt_tokens,
            own.job.response_tokens,
        )
        assert one.request.limits == own.limits
        assert one.request.presets == ("base", one.algorithm)
        assert not one.request.compare
    steps = {name: one.request.job.steps_for(8) for name, one in found.items()}
    assert steps == {"grpo": 200, "sft": 4000, "dpo": 200, "ppo": 300, "opd": 100}
    assert found["sft"].request.job.remedial_share == 0.3
    assert found["ppo"].request.group_sizes == (1,)
    assert any("value model" in reason for reason in found["ppo"].request.reasons)


def test_the_files_own_algorithm_reads_as_the_file_alone(path: Path) -> None:
    alone = api.load(path)
    own = _by_name(path, "grpo", "opd")["grpo"]
    assert own.left_out == ()
    assert own.request == alone.model_copy(update={"compare": {}})


def test_what_an_algorithm_has_no_use_for_is_left_out_and_named(path: Path) -> None:
    found = _by_name(path)
    sampling = {"job.cache_hit_rate", "choices.group_size", "choices.placements", "job.models.reward"}
    assert set(found["dpo"].left_out) == sampling
    assert set(found["sft"].left_out) == sampling
    assert found["opd"].left_out == ("job.models.reward",)
    assert found["ppo"].left_out == ()
    assert found["dpo"].request.job.cache_hit_rate == 0.0


def test_its_own_entry_may_change_the_files_algorithm_too(path: Path) -> None:
    changes = ("compare.grpo.job={convergence: {8: 150, 16: 90}}", "compare.opd.job.steps=70")
    found = _by_name(path, "grpo", "opd", changes=changes)
    assert found["grpo"].request.job.steps_for(8) == 150
    assert found["opd"].request.job.steps == 70


def test_all_that_is_missing_is_said_at_once_where_it_is_to_be_written(path: Path) -> None:
    path.write_text(FILE.partition("compare:")[0], encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_compared(path, ("grpo", "sft", "opd"))
    said = {one.key: one for one in caught.value.complaints}
    assert set(said) == {
        "compare.sft.job.steps",
        "compare.sft.job.remedial_share",
        "compare.opd.job.steps",
        "compare.opd.job.models.teacher",
    }
    assert "a run of opd is not as long as one of grpo" in said["compare.opd.job.steps"].message
    assert all(one.fix for one in said.values())


@pytest.mark.parametrize(
    ("entry", "key", "word", "line"),
    [
        ("  opd: {job: {steps: 0}}", "compare.opd.job.steps", "out of range", 14),
        ("  opd: {job: {steps: 10, reward: 3}}", "compare.opd.job.reward", "unknown key", 14),
        ("  opd: {floors: {samples_per_update: 1}}", "compare.opd.floors.samples_per_update", "because", 14),
    ],
)
def test_a_wrong_entry_is_refused_with_its_line(path: Path, entry: str, key: str, word: str, line: int) -> None:
    path.write_text(f"{FILE.partition('compare:')[0]}compare:\n{entry}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_compared(path, ("grpo", "opd"))
    said = {one.key: one for one in caught.value.complaints}
    assert key in said, str(caught.value)
    assert word in str(said[key])
    assert said[key].line == line


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("{opd: 3}", "not a map"),
        ("{opd: {jobs: {steps: 1}}}", "'jobs' is no section"),
        ("{opd: {job: 3}}", "job is 3"),
        ("{opd: {job: {algorithm: sft}}}", "said by the name in front"),
        ("{odp: {job: {steps: 3}}}", "write opd"),
        ("[opd]", "not a map"),
    ],
)
def test_a_table_that_is_none_is_refused_whatever_is_asked(path: Path, entry: str, word: str) -> None:
    path.write_text(f"{FILE.partition('compare:')[0]}compare: {entry}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.load(path)
    assert word in str(caught.value)
    assert all(one.key.startswith("compare") for one in caught.value.complaints)


@pytest.mark.parametrize("names", [("grpo",), ("grpo", "grpo"), ("grpo", "dap")])
def test_nothing_to_compare_is_said(path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match=r"nothing to compare|no algorithm 'dap'"):
        load_compared(path, names)


def test_the_table_changes_no_plan_and_a_check_names_it(path: Path) -> None:
    whole = api.load(path)
    path.write_text(FILE.partition("compare:")[0], encoding="utf-8")
    bare = api.load(path)
    plans: list[Any] = [api.solve(request, short_frontier=False) for request in (whole, bare)]
    assert plans[0].cost == plans[1].cost
    assert plans[0].decisions == plans[1].decisions
    named = "keys of their own for sft, dpo, ppo, opd"
    assert any(text.startswith(named) for text in derived(whole, FACTS))
    assert not any("keys of their own" in text for text in derived(bare, FACTS))


def test_a_check_reads_what_each_algorithm_states(path: Path) -> None:
    assert api.check(path)
    with pytest.raises(InputError, match=r"compare\.opd\.job\.steps"):
        api.check(path, ["compare.opd.job.steps=null"])
    with pytest.raises(MissingFactError, match="Qwen/Qwen9-7B"):
        api.check(path, ["compare.opd.job.models.teacher=Qwen/Qwen9-7B"])


def test_entries_for_the_files_own_algorithm_alone_are_nothing_to_compare(path: Path) -> None:
    path.write_text(f"{FILE.partition('compare:')[0]}compare: {{grpo: {{job: {{steps: 5}}}}}}\n", encoding="utf-8")
    assert api.check(path)
    with pytest.raises(InputError, match="nothing to compare"):
        load_compared(path)
