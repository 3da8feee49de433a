"""Configurations as people write them: short, listed, or a saved plan; what is wrong is said with its line."""

from __future__ import annotations

from json import dumps
from pathlib import Path

import pytest

from rlopt.answers.configuration import Configuration
from rlopt.errors import InputError
from rlopt.reading.configuration.file import read_configuration
from tests.reports import plans


def read(tmp_path: Path, text: str) -> Configuration:
    """Read a text as a file."""
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return read_configuration(path)


def test_the_short_form_and_the_listed_one_say_the_same(tmp_path: Path) -> None:
    short = read(tmp_path, "gpu: H100\ngpus: 8\ntp: 2\nplacement: colocated\ninterval: 50\nprecision: bf16\n")
    listed = read(
        tmp_path,
        "pools:\n  - {role: train, gpu: H100, gpus: 8, layout: {tp: 2}}\n"
        "decisions: {placement: colocated, checkpoint: {interval_steps: 50}, precision: {update: bf16}}\n",
    )
    assert short.pools == listed.pools
    assert short.decisions == listed.decisions
    assert short.pools[0].layout.tp == 2
    assert short.decisions.interval_steps == 50
    assert short.decisions.precision.update == "bf16"


def test_json_is_read_too(tmp_path: Path) -> None:
    found = read(tmp_path, '{"pools": [{"gpu": "H100", "nodes": 2, "usd_per_node_hour": 12.5}]}')
    assert found.pools[0].usd_per_node_hour == 12.5
    assert found.pools[0].has_user_price


@pytest.mark.parametrize("plan", [plans.optimal(), plans.faster()])
def test_a_saved_plan_works_as_it_is(tmp_path: Path, plan: object) -> None:
    text = plan.model_dump_json(by_alias=True)  # type: ignore[attr-defined]
    found = read(tmp_path, text)
    worked = [pool for pool in plan.pools if pool.gpus]  # type: ignore[attr-defined]
    assert [(pool.gpu, pool.gpus, pool.offer) for pool in found.pools] == [(p.gpu, p.gpus, p.offer) for p in worked]
    decided = plan.decisions  # type: ignore[attr-defined]
    assert found.decisions.placement == decided.placement
    assert found.decisions.interval_steps == decided.checkpoint.interval_steps
    assert found.decisions.ways["models"] == decided.models


def test_pools_and_decisions_cut_out_of_a_plan_are_read(tmp_path: Path) -> None:
    whole = plans.optimal().document()
    found = read(tmp_path, dumps({"pools": whole["pools"], "decisions": whole["decisions"]}))
    assert found.decisions.interval_steps == whole["decisions"]["checkpoint"]["interval_steps"]
    assert len(found.pools) == sum(pool["gpus"] > 0 for pool in whole["pools"])


@pytest.mark.parametrize(
    ("text", "key", "line", "allowed", "fix"),
    [
        ("gpu: H100\ngpux: 8\n", "gpux", 2, "gpus", "did you mean gpu"),
        ("gpu: H100\ngpus: 12\ngpus_per_node: 8\n", "gpus", 2, "a multiple of 8", "write gpus: 16"),
        ("gpu: H100\ngpus: 8\nnodes: 3\n", "gpus", 2, "a multiple of 3", "write gpus"),
        ("gpu: H100\ngpus: eight\n", "gpus", 2, "a whole number from 1", "write gpus: 1"),
        ("gpu: H100\ngpus: 8\nplacement: apart\n", "placement", 3, "colocated", "write "),
        ("gpu: H100\nusd_per_gpu_hour: 1\nusd_per_hour: 8\n", "usd_per_gpu_hour", 2, "one price", "delete"),
        ("gpu: H100\nusd_per_gpu_hour: .nan\n", "usd_per_gpu_hour", 2, "a number from 0", ""),
        ("pools:\n  - {role: train, gpu: H100}\n  - {role: train, gpu: A100}\n", "pools", 1, "at most 1", "role"),
        ("pools:\n  - {gpu: H100}\n  - {gpu: A100}\n", "pools[0].role", None, "train, rollout, score", "role: train"),
        ("pools: 8 H100\n", "pools", 1, "a list", "write pools"),
        ("pools: []\n", "pools", 1, "a list", "write pools"),
        ("decisions: {placement: colocated}\n", "pools", None, "a list of pools", "write pools"),
        ("pools: [{gpu: H100, layout: 2}]\n", "pools[0].layout", 1, "a map", "layout: {tp: 2}"),
        ("pools: [{gpu: H100}]\ngpu: H100\n", "gpu", 2, "keys of a pool", "move gpu"),
        ("pools: [{gpu: H100}]\ndecisions: 3\n", "decisions", 2, "a map", "write"),
        ("- 1\n", "", None, "a map with pools and decisions", "write pools"),
        ("gpu: H100\ngpu: A100\n", "gpu", 2, "once", "delete"),
    ],
)
def test_what_is_wrong_is_said_once_with_its_line(
    tmp_path: Path, text: str, key: str, line: int | None, allowed: str, fix: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    complaint = caught.value.complaints[0]
    assert (complaint.key, complaint.line) == (key, line)
    assert complaint.file == str(tmp_path / "mine.yaml")
    assert allowed in complaint.allowed
    assert fix in complaint.fix


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "{" * 200,
        "pools: [&a {gpu: *a}]",
        "pools: [[[[]]]]",
        "gpu: [H100]",
        "gpu: {a: b}",
        "gpu: H100\nlayout: {tp: [1]}",
        "gpu: H100\nprecision: [bf16]",
        "gpu: H100\ndecisions: {checkpoint: {tiers: [3], interval_steps: {}}}",
        "gpu: H100\ndecisions: {checkpoint: {tiers: [{roles: [recent], tier: [x]}]}}",
        "gpu: H100\ndecisions: {checkpoint: {tiers: [{roles: 3}], intervall: 3}}",
        "gpu: H100\ncheckpoint: 50",
        "gpu: H100\nrecovery: {spares: 1}",
        "gpu: H100\ndecisions: {models: 3, load: [], kernels: {}}",
        "gpu: H100\ngpus: 99999999999999999999999999",
        "gpu: H100\ngpus: true",
        "gpu: H100\ngpus: 1.5",
        "pools: [{roles: [[]], gpu: H100}, {roles: {}, gpu: H100}]",
        '{"schema": "rlopt.plan/1"}',
        '{"schema": "rlopt.plan/1", "pools": []}',
        "1: 2",
    ],
)
def test_hostile_files_end_in_complaints(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert all(complaint.message for complaint in caught.value.complaints)
