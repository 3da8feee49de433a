"""The shipped examples: each loads as it is, and quickly derives what its comments promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.reading.request_file import load_request, read_request
from rlopt.reports.check.sentences import derived
from rlopt.request import Request
from rlopt.units import GIB, Money

FACTS = load_catalog()

ROOT = Path(__file__).parents[2]
REQUESTS = sorted((ROOT / "tests" / "data" / "requests").glob("*.yaml"))
OWN = sorted((ROOT / "examples").glob("*.yaml"))


def _load(prefix: str, *overrides: str) -> Request:
    (path,) = [path for path in REQUESTS if path.name.startswith(prefix)]
    return load_request(path, overrides)


def test_there_are_eighteen_and_the_examples_folder_holds_the_same() -> None:
    assert len(REQUESTS) == 18
    for path in REQUESTS:
        assert (ROOT / "examples" / "requests" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", REQUESTS + OWN, ids=lambda path: path.stem)
def test_every_example_loads(path: Path) -> None:
    request = load_request(path)
    assert request.group_sizes
    assert request.job.steps_for(request.group_sizes[0])
    assert len(derived(request, FACTS)) >= 4
    assert Request.model_validate_json(request.model_dump_json(by_alias=True)) == request


def test_there_are_short_own_examples() -> None:
    assert {"quickstart.yaml"} < {path.name for path in OWN}


def test_numbers_arrive_in_canonical_units() -> None:
    request = _load("14-")
    assert request.job.trajectory is not None
    assert (request.job.trajectory.mean, request.job.trajectory.max) == (300.0, 600.0)
    assert request.job.action is not None
    assert request.job.action.frequency == 50.0
    assert request.floors.simulator_bandwidth == 10e9
    assert request.floors.checkpoints.recovery_time == 600.0
    assert request.limits.budget == Money(20000.0, "USD")
    assert request.job.environment is not None
    assert request.job.environment.memory_per_instance == 8 * GIB
    assert request.job.vision is not None
    assert request.job.vision.tokens == 768


def test_chinese_names_and_another_currency() -> None:
    request = _load("11-")
    assert "优云智算" in (request.choices.providers or ())
    assert request.budget_usd == pytest.approx(2520)
    assert request.costs.engineer_hour == Money(300.0, "CNY")


def test_the_grpo_preset_is_no_tighter_than_example_seven() -> None:
    request = _load("07-")
    assert request.presets == ("base", "grpo")
    assert request.reasons == ()


def test_steps_of_dirty_and_clean_data() -> None:
    job = _load("05-").job
    assert (job.steps_for(None), job.steps_for(None, cleaned=True)) == (3250, 2500)
    assert _load("05-", "job.data.cleaned=true").job.steps_for(None) == 2500


@pytest.mark.parametrize(
    ("prefix", "change"),
    [
        ("07-", "limits.quotas=null"),
        ("09-", "floors.text_log_rate=0.01"),
        ("12-", "job.trainable=full"),
        ("15-", "limits.deadline=2000h"),
        ("17-", "limits.budget=20000 USD"),
        ("14-", "job.filter.drop=0"),
        ("13-", "job.cache_hit_rate=0.5"),
        ("18-", "floors.checkpoints.history_every=50"),
        ("11-", "costs.exchange_rates.CNY=0.28 USD"),
    ],
)
def test_changes_that_comparisons_make(prefix: str, change: str) -> None:
    assert _load(prefix, change) != _load(prefix)


def test_a_map_in_python_asks_the_same_as_a_file() -> None:
    text = {
        "extends": ["grpo"],
        "job": {
            "algorithm": "grpo",
            "models": {"policy": "Qwen/Qwen2.5-7B-Instruct", "reward": "rule"},
            "prompts_per_step": 128,
            "steps": 10,
            "prompt_tokens": {"mean": 100, "max": 200},
            "response_tokens": {"mean": 100, "max": 200},
        },
        "limits": {"deadline": "2h"},
    }
    request = read_request(text)
    assert request.limits.deadline == 7200
    assert request.choices.group_size == (8,)
    assert request.job.models.reference is not None
    assert request.job.models.reference.is_policy
