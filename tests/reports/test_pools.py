"""What the report says of pools that are mixed, reserved or of their own, and of policies that act."""

from __future__ import annotations

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.layout import to_text
from rlopt.reports.text.plan import plan_report
from tests.reports import rich_plans
from tests.reports.golden import check_golden

CASES = {"mixed": rich_plans.mixed, "acting": rich_plans.acting}


def report(plan: Plan) -> str:
    return " ".join(to_text(*plan_report(plan), width=200).split())


@pytest.mark.parametrize("name", sorted(CASES))
def test_report_reads_as_kept(name: str) -> None:
    check_golden(f"{name}_100.txt", to_text(*plan_report(CASES[name]()), width=100))


def test_each_offer_of_a_mixed_pool_tells_its_samples() -> None:
    text = report(rich_plans.mixed())
    assert "takes 62% of the samples: one of the two offers of a mixed pool" in text
    assert "takes 38% of the samples" in text
    assert text.count("of the samples: one of") == 2


def test_weights_go_to_every_pool_that_generates() -> None:
    assert "hand over weights policy rollout-1 and rollout-2 4 s" in report(rich_plans.mixed())


def test_reserved_machines_tell_their_term() -> None:
    text = report(rich_plans.mixed())
    assert "reserved: billed in whole terms of 7.0 days (168 h), used or not" in text
    assert text.count("whole terms") == 1


def test_weights_that_never_change_are_told_only_beside_others() -> None:
    text = report(rich_plans.mixed())
    assert "weights 14.2 of which 7.1 never change" in text
    assert text.count("never change") == 1  # all of the teacher's are frozen, and it is said to score


def test_decisions_are_sentences() -> None:
    text = report(rich_plans.mixed())
    assert "not cleaned: used as they are; log-probabilities of frozen models stored and used again" in text
    assert "1,024 copies of the tools" in text
    assert "automatic: a script gives the machines back" in text


def test_the_plan_is_found_again_among_the_others_despite_rounding() -> None:
    assert "8 H100-SXM reserved at lambda + 4 L40S (this plan)" in report(rich_plans.mixed())
    other = rich_plans.mixed().model_copy(update={"frontier": []})
    assert "(this plan)" not in report(other)


def test_a_policy_that_acts_has_trajectories_and_two_parts() -> None:
    text = report(rich_plans.acting())
    assert "1 trajectory per task" in text
    assert "per prompt" not in text
    assert "policy (backbone and action expert) and value model" in text
    assert "the value model tells 201 bins apart" in text
    assert "64 copies of the simulator" in text
    assert "logits <0.1" in text


def test_a_backbone_is_not_said_to_be_trained() -> None:
    text = report(rich_plans.acting())
    assert "run for training backbone" in text
    assert "train action expert" in text
    assert "train policy" not in text
