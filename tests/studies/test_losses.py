"""What a policy's loss and a shared value model do to a plan, and what is said where they cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.errors import InputError
from rlopt.studies.cheapest import cheapest
from tests.studies.small import asked, problem_of, solved, usd
from tests.studies.test_acting_choices import ACTION, FLOORS, PLAIN, VALUE, acting, seconds
from tests.studies.test_model_choices import POLICY, ROBOT

FROZEN = {"trainable": {"frozen": ["vision", "backbone"]}}
HEAD = {"share": "backbone", "head": "400M"}


def lossy(loss: str, steps: int, **job: Any) -> dict[str, Any]:
    return {"action": ROBOT["action"] | {"policy_loss": loss, "flow_steps": steps}, **job}


def test_a_loss_is_stated_and_a_likelihood_costs_what_it_takes() -> None:
    plain, conditioned, ratio = (
        solved(acting({"policy": POLICY}, lossy(loss, 5))) for loss in ("awr", "advantage_conditioned", "ppo")
    )
    assert usd(plain) == usd(conditioned) < usd(ratio)
    found = seconds(ratio)
    assert found["likelihood", "main", "action"] > 0.0
    assert not any(stage == "likelihood" for stage, _, _ in seconds(plain))
    assert any("ppo on a flow head is dear: the stage likelihood" in warning for warning in ratio.warnings)
    assert not any("is dear" in warning for warning in plain.warnings)
    tokens = {"head": "tokens", "policy_loss": "ppo", **{k: ACTION[k] for k in ("chunk", "frequency")}}
    cheap = solved(acting({"policy": PLAIN}, {"action": tokens | {"tokens_per_action": 2}}))
    assert not any("is dear" in warning for warning in cheap.warnings)


@pytest.mark.parametrize("loss", ["awr", "ppo"])
def test_more_flow_steps_are_never_cheaper(loss: str) -> None:
    totals = [
        usd(cheapest(problem_of(acting({"policy": POLICY}, lossy(loss, steps))), "pulp")) for steps in (1, 2, 5, 10)
    ]
    assert totals == sorted(totals)
    assert totals[0] < totals[-1]


def test_what_an_unrolled_update_needs_is_said_where_nothing_has_it() -> None:
    found = []
    for loss in ("awr", "ppo"):
        job, one = {**ROBOT, **lossy(loss, 5000), **FROZEN}, {"max_gpus": 1}
        request = asked("vla", {"policy": POLICY}, job=job, choices={"gpus": ["L4"]}, limits=one)
        found.append(cheapest(problem_of(request), "pulp"))
    assert [plan.status for plan in found] == ["optimal", "infeasible"]
    said = [[text for text in plan.warnings if text.startswith("no training layout fits")] for plan in found]
    assert [len(texts) for texts in said] == [0, 1]
    assert "in stage likelihood (update policy), which unrolls 5000 flow steps" in said[1][0]
    needed, there = (float(part.split()[-1]) for part in said[1][0].split(" GiB")[:2])
    assert 20.0 < there < needed < 40.0  # 250,000 action tokens · 2 bytes · hidden width of every layer alone are 9 GiB


def test_a_value_head_on_the_backbone_costs_less_than_a_model_as_large() -> None:
    large = VALUE | {"name": "value-2.4b", "params": 2.4e9, "hidden": 2048, "layers": 18, "ffn": 16384, "head_dim": 256}
    shared, own = (solved(acting({"policy": POLICY, "value": value}, FROZEN)) for value in (HEAD, large))
    assert usd(shared) < usd(own)
    assert ("forward", "main", "policy") in seconds(shared)
    assert ("forward", "main", "policy") not in seconds(own)


def test_a_floor_on_the_value_models_size_counts_the_backbone_below_a_head() -> None:
    models, weights = {"policy": POLICY, "value": HEAD}, {"policy": POLICY, "value": VALUE}

    def status(roles: dict[str, Any], least: str) -> str:
        floors = FLOORS | {"value_params": least}
        return solved(asked("vla", roles, job={**ROBOT, **FROZEN}, floors=floors)).status

    assert [status(models, least) for least in ("2B", "3B")] == ["optimal", "infeasible"]
    assert [status(weights, least) for least in ("500M", "501M")] == ["optimal", "infeasible"]


@pytest.mark.parametrize(
    ("models", "job", "key", "text"),
    [
        ({"value": HEAD}, {}, "job.models.value", "vision and backbone are trained"),
        ({"value": HEAD}, {"trainable": {"frozen": ["vision"]}}, "job.models.value", "backbone is trained"),
        ({"value": HEAD | {"head": "big"}}, FROZEN, "job.models.value.head", "write for example 400M"),
        ({"value": {"share": "trunk", "head": "400M"}}, FROZEN, "job.models.value.share", "backbone"),
    ],
)
def test_a_shared_backbone_must_stand_still(models: dict[str, Any], job: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        acting({"policy": POLICY, **models}, job)
    assert key in [complaint.key for complaint in caught.value.complaints]
    assert text in str(caught.value)
