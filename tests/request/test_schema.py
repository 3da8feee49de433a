"""The JSON Schema agrees with what reading takes and refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from rlopt.reading.files.keys import all_keys
from rlopt.reading.init_text import init_text
from rlopt.request import ROLES
from rlopt.request.schema import json_schema

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))


def _yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid(path: Path, validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(_yaml(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("algorithm", ROLES)
def test_starting_texts_are_valid(algorithm: str, validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(_yaml(init_text(algorithm, "a/b")))] == []


@pytest.mark.parametrize("path", sorted((ROOT / "constraints").glob("*.yaml")), ids=lambda path: path.stem)
def test_presets_lack_nothing_but_the_job(path: Path, validator: jsonschema.Draft202012Validator) -> None:
    errors = list(validator.iter_errors(_yaml(path.read_text(encoding="utf-8"))))
    assert [error.message for error in errors] == ["'job' is a required property"]


JOB = """
algorithm: grpo
models: {policy: a/b, reward: rule}
prompts_per_step: 8
steps: 3
prompt_tokens: {mean: 1, max: 2}
response_tokens: {mean: 1, max: 2}
"""
RIGHT = (
    "limits: {deadline: 1.5e1 min, host_memory: 80 GiB, quotas: [{max_gpus: 0}]}",
    "limits: null",
    "floors: {group_size: {value: 4, because: easy}, because: all}",
    "floors: {checkpoints: {keep_recent: {value: 1, because: x}, because: y}}",
    "floors: {checkpoints: {value: {keep_recent: 1}, because: y}, group_size: null}",
    "choices: {regions: {aws: [a], gcp: any}, providers: any, gpus: [H100]}",
    "costs: {setup_hours: {async: 4, colocated: 2h}, keep_for: {logs: 0}, exchange_rates: {CNY: 0.14 USD}}",
    "limits: {budget: {total: 100 USD, storage: 5 USD, data: null}}",
    "limits: {budget: 100 USD}",
    "floors: {core_metrics: {every: {value: 20, because: x}}, score_precision: fp8, data_precision: jpeg90}",
    "floors: {core_metrics: {every: 20, because: x}}",
    "choices: {log_probs: [stored], scoring: [own], mixed_pools: false, value_bins: [51, 101]}",
    "costs: {idle: {automatic: {within: 5min, setup_hours: 2}, volumes: 0}, keep_for: {full_text: 72h}}",
    "choices: {action_head: [flow, one_step, tokens]}",
    "floors: {value_params: {value: 400M, because: x}}",
    "floors: {value_params: 400000000}",
    "extends: grpo",
    "objective: time",
)
WRONG = (
    "limits: {deadline: 24}",
    "limits: {deadline: 24 hours}",
    "limits: {budget: 100}",
    "limits: {budget: -5 USD}",
    "limits: {dedline: 3h}",
    "limits: {budget: {storrage: 5 USD}}",
    "limits: {budget: {storage: 5}}",
    "floors: {data_precision: png}",
    "floors: {core_metrics: 10}",
    "choices: {log_probs: [cached]}",
    "choices: {value_bins: []}",
    "costs: {idle: {automatic: {setup_hours: 2}}}",
    "limits: {confidence: 0.4}",
    "limits: {quotas: [{provider: aws}]}",
    "floors: {group_size: {value: 4}}",
    "floors: {update_precision: bf8}",
    "floors: {on_demand_share: 1.5}",
    "choices: {gpus: []}",
    "choices: {pricing: spot}",
    "choices: {staleness: [0]}",
    "choices: {action_head: [diffusion]}",
    "floors: {value_params: 400 M weights}",
    "objective: speed",
    "version: 2",
    "presets: [grpo]",
)


def _with_job(section: str) -> Any:
    return {"job": _yaml(JOB), **_yaml(section)}


@pytest.mark.parametrize("section", RIGHT)
def test_other_right_sections(section: str, validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(_with_job(section))] == []


@pytest.mark.parametrize("section", WRONG)
def test_wrong_sections(section: str, validator: jsonschema.Draft202012Validator) -> None:
    assert list(validator.iter_errors(_with_job(section)))


@pytest.mark.parametrize(
    "change",
    [
        {"trainable": "lora"},
        {"trainable": {"lora_rank": 0}},
        {"models": {"policy": {"layers": 2}}},
        {"tags": 3},
        {"metrics": {"scalars": -1}},
        {"metrics": 25},
        {"text_log": {"debug_rate": 2}},
        {"cache": {"replay": 5}},
        {"fallback": {"share_of_steps": 1.5}},
        {"data": {"versions": {"copies": "some"}}},
        {"data": {"stands_in": {"provider": "aws"}}},
        {"value_convergence": {"201": 0}},
        {"convergence": {"flow": 0}},
        {"convergence": {"flow": 40, "8": 30}},
        {"models": {"policy": "a/b", "value": {"share": "trunk", "head": "400M"}}},
        {"offline": {"epochs": 2}},
        {"action": {"head": "flow", "chunk": 50, "frequency": "50 Hz", "policy_loss": "grpo"}},
    ],
)
def test_wrong_jobs(change: dict[str, Any], validator: jsonschema.Draft202012Validator) -> None:
    assert list(validator.iter_errors({"job": {**_yaml(JOB), **change}}))


@pytest.mark.parametrize(
    "change",
    [
        {"convergence": {"flow": 40, "one_step": {"4": 60, "8": 50}}},
        {"models": {"policy": "a/b", "value": {"share": "backbone", "head": "400M"}}},
        {"offline": {"samples": 500, "epochs": 2}},
        {"action": {"head": "flow", "flow_steps": 5, "chunk": 50, "frequency": "50 Hz", "policy_loss": "ppo"}},
    ],
)
def test_right_jobs(change: dict[str, Any], validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors({"job": {**_yaml(JOB), **change}})] == []


def test_inline_shapes_need_not_be_complete(validator: jsonschema.Draft202012Validator) -> None:
    shape = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
    assert list(validator.iter_errors({"job": {**_yaml(JOB), "models": {"policy": shape}}})) == []


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            yield node
        for value in node.values():
            yield from _objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from _objects(value)


def test_every_key_is_described_and_nothing_unknown_gets_in() -> None:
    schema = json_schema()
    assert schema["$schema"].endswith("2020-12/schema")
    assert json.loads(json.dumps(schema)) == schema
    for node in _objects(schema):
        assert node["additionalProperties"] is False
    named = {name for part in [schema, *schema["$defs"].values()] for name in part.get("properties", {})}
    leaves = {key.rpartition(".")[2] for key in all_keys()}
    assert leaves - {"lora_rank", "base", "frozen"} <= named
    for name, part in schema["$defs"].items():
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), (name, key)


def test_a_call_does_not_change_the_next_one() -> None:
    assert json_schema() == json_schema()
