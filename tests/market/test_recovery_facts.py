"""What the catalog says of launchers, what offers are waited for, and what a plan has to say of what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlopt.api import load, problem_of
from rlopt.errors import MissingFactError
from rlopt.facts.files.folder import load_catalog
from rlopt.market.launchers import elastic
from rlopt.problem import Problem
from tests.studies.small import asked

FACTS = load_catalog()


def problem(algorithm: str = "grpo", **sections: Any) -> Problem:
    """The small request's problem."""
    return problem_of(asked(algorithm, **sections))


def says(text: str, **sections: Any) -> bool:
    """Whether a warning of the plans holds the text."""
    return any(text in warning for warning in problem(**sections).warnings)


def test_every_launcher_that_is_said_to_be_elastic_or_not_has_a_source() -> None:
    launchers = load_catalog().launchers
    assert {name for name, one in launchers.items() if one.elastic} >= {"cosmos-rl"}
    assert {name for name, one in launchers.items() if one.elastic is False} >= {"verl", "trl"}
    for name, one in launchers.items():
        assert bool(one.source) == (one.elastic is not None), name
        assert one.note, name


def test_only_a_launcher_that_is_stated_to_be_elastic_is() -> None:
    stated = {
        name: elastic(asked("grpo", recovery={"launcher": name}), FACTS) for name in ("Cosmos-RL", "verl", "openrlhf")
    }
    assert stated == {"Cosmos-RL": True, "verl": False, "openrlhf": False}
    assert not elastic(asked("grpo"), FACTS)
    with pytest.raises(MissingFactError, match=r"(?s)launcher nobodys.*write one of cosmos-rl, .*or delete the key"):
        elastic(asked("grpo", recovery={"launcher": "nobodys"}), FACTS)


def test_an_offer_waits_as_long_as_the_longest_row_that_matches() -> None:
    wait = [{"wait": "1h"}, {"gpu": "H100", "wait": "6h"}, {"provider": "aws", "pricing": "spot", "wait": "3h"}]
    for pricing, others in (("on_demand", 1.0), ("spot", 3.0)):
        found = problem(choices={"pricing": [pricing]}, limits={"wait": wait})
        assert found.wait_hours is not None
        expected = [6.0 if "H100" in offer.shape.device else others for offer in found.market.offers]
        assert found.wait_hours.tolist() == expected
        assert set(expected) == {others, 6.0}
    assert problem(limits={"wait": "0h"}).wait_hours is None


def test_failures_leave_reclaims_out() -> None:
    for pricing in ("on_demand", "spot"):
        found = problem(choices={"pricing": [pricing]})
        assert found.faults_per_node is not None
        pools = found.colocated
        faults = pools.nodes * found.faults_per_node[pools.offer]
        assert (faults > 0.0).all()
        assert np.allclose(faults, pools.failures_per_hour) == (pricing == "on_demand")
        assert (faults <= pools.failures_per_hour * (1.0 + 1e-12)).all()


def test_a_plan_says_what_no_source_gives() -> None:
    assert says("job.divergences is not given: no collapse of a grpo run is on the bill")
    assert not says("job.divergences is not given", algorithm="sft")
    roles = {"reward": "rule", "critic": "policy"}
    assert says("job.trials is not given: one run is billed", algorithm="ppo", models=roles)
    path = next((Path(__file__).parents[2] / "examples" / "requests").glob("06-ppo-*.yaml"))
    given = problem_of(load(path, ["job.trials=1", "job.divergences=0"])).warnings
    assert not any("job.trials is not given" in text or "job.divergences is not" in text for text in given)
    assert not says("job.trials is not given")
    assert says("assumed: machines are there at once", limits={"deadline_from": "request"})
    assert not says("assumed: machines are there at once", limits={"deadline_from": "request", "wait": "1h"})


@pytest.mark.parametrize(
    ("launcher", "why"), [(None, "recovery.launcher is not given"), ("verl", "verl is not elastic"), ("cosmos-rl", "")]
)
def test_copies_that_shorten_nothing_are_warned_of(launcher: str | None, why: str) -> None:
    recovery = {} if launcher is None else {"launcher": launcher}
    text = f"checkpoint.rollouts shortens nothing: {why}"
    assert says(text, recovery=recovery, checkpoint={"rollouts": {"every": 512}}) == bool(why)
