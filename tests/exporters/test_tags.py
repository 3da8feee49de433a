"""Tags and alerts as the clouds' own interfaces describe them."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.answers.plan import BillLine, Cost, Kept, Move, Plan
from rlopt.exporters.budgets import cents
from rlopt.exporters.labels import AWS, AZURE, GCP
from rlopt.exporters.tags import tags_document
from rlopt.request import Request
from tests.costs.hand import request
from tests.reports import plans

DAY = date(2026, 11, 30)
PARTS: dict[str, Any] = {
    "budget": {
        name: {"amount": amount, "currency": "USD"}
        for name, amount in (("total", 1000.0), ("storage", 33.335), ("operations", 90.0))
    }
}


def asked(**sections: Any) -> Request:
    """A request whose job has a name."""
    found = request(**sections)
    return found.model_copy(update={"job": found.job.model_copy(update={"name": "Math 7B: second"})})


@pytest.fixture
def document() -> dict[str, Any]:
    """Of a plan with tags and a request with budgets."""
    return tags_document(plans.optimal(), asked(limits=PARTS), DAY)


def test_the_jobs_name_and_algorithm_stand_beside_its_tags(document: dict[str, Any]) -> None:
    assert document["schema"] == "rlopt.tags/1"
    assert document["tags"] == {
        "job": "Math 7B: second", "algorithm": "grpo", "project": "math", "owner": "ops@example.org",
    }  # fmt: skip
    assert document["tags_by_dimension"]["storage"]["job-part"] == "Math 7B: second-storage"


def test_alerts_at_half_four_fifths_and_all_of_every_budget(document: dict[str, Any]) -> None:
    assert [alert["scope"] for alert in document["alerts"]] == ["total", "storage", "operations"]
    assert [(at["percent"], at["usd"]) for at in document["alerts"][0]["at"]] == [(50, 500), (80, 800), (100, 1000)]
    assert document["storage"]["bytes"] == 1020 * 2**30
    assert [at["bytes"] for at in document["storage"]["at"]] == [510 * 2**30, 816 * 2**30, 1020 * 2**30]
    assert any("operations" in note for note in document["notes"])


# Required members and enumerations of the service model of AWS Budgets (API 2016-10-20).
AWS_REQUIRED = {"BudgetName", "TimeUnit", "BudgetType"}
AWS_MEMBERS = AWS_REQUIRED | {"BudgetLimit", "CostFilters", "CostTypes", "TimePeriod"}
AWS_NOTIFICATION = {"NotificationType", "ComparisonOperator", "Threshold", "ThresholdType"}


def test_aws_takes_the_bodies_of_create_budget(document: dict[str, Any]) -> None:
    bodies = document["aws"]["create_budget"]
    assert [body["Budget"]["BudgetLimit"] for body in bodies] == [
        {"Amount": "1000.00", "Unit": "USD"},
        {"Amount": "33.34", "Unit": "USD"},
    ]
    assert [body["Budget"]["CostFilters"] for body in bodies] == [
        {"TagKeyValue": ["user:job$Math 7B: second"]},
        {"TagKeyValue": ["user:job-part$Math 7B: second-storage"]},
    ]
    for body in bodies:
        assert set(body) == {"Budget", "NotificationsWithSubscribers", "ResourceTags"}
        budget = body["Budget"]
        assert set(budget) >= AWS_REQUIRED
        assert set(budget) <= AWS_MEMBERS
        assert re.fullmatch(r"[^:\\]{1,100}", budget["BudgetName"])
        assert re.fullmatch(r"([0-9]*\.)?[0-9]+", budget["BudgetLimit"]["Amount"])
        assert budget["TimeUnit"] in ("DAILY", "MONTHLY", "QUARTERLY", "ANNUALLY", "CUSTOM")
        assert budget["BudgetType"] == "COST"
        assert 1 <= len(body["NotificationsWithSubscribers"]) <= 5
        for one in body["NotificationsWithSubscribers"]:
            assert set(one["Notification"]) == AWS_NOTIFICATION
            assert one["Notification"]["NotificationType"] in ("ACTUAL", "FORECASTED")
            assert one["Notification"]["ComparisonOperator"] in ("GREATER_THAN", "LESS_THAN", "EQUAL_TO")
            assert one["Notification"]["ThresholdType"] == "PERCENTAGE"
            assert one["Subscribers"] == [{"SubscriptionType": "EMAIL", "Address": "ops@example.org"}]
        assert all(set(tag) == {"Key", "Value"} for tag in body["ResourceTags"])
    assert [n["Notification"]["Threshold"] for n in bodies[0]["NotificationsWithSubscribers"]] == [50, 80, 100]


def test_gcp_takes_a_budget_with_one_label(document: dict[str, Any]) -> None:
    total, storage = document["gcp"]["budgets"]
    assert total["budgetFilter"]["labels"] == {"job": ["math-7b--second"]}
    assert storage["budgetFilter"]["labels"] == {"job-part": ["math-7b--second-storage"]}
    assert total["amount"] == {"specifiedAmount": {"currencyCode": "USD", "units": "1000", "nanos": 0}}
    assert storage["amount"]["specifiedAmount"] == {"currencyCode": "USD", "units": "33", "nanos": 340_000_000}
    assert [rule["thresholdPercent"] for rule in total["thresholdRules"]] == [0.5, 0.8, 1.0]
    assert all(rule["spendBasis"] == "CURRENT_SPEND" for rule in total["thresholdRules"])
    assert total["budgetFilter"]["customPeriod"] == {"startDate": {"year": 2026, "month": 11, "day": 30}}
    assert len(total["displayName"]) <= 60
    assert {"original": "Math 7B: second", "written": "math-7b--second"} in document["gcp"]["changed"]


def test_azure_takes_the_body_of_a_budget(document: dict[str, Any]) -> None:
    total, storage = document["azure"]["budgets"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,63}", total["name"])
    properties = total["body"]["properties"]
    assert set(properties) >= {"amount", "category", "timeGrain", "timePeriod"}
    assert (properties["amount"], properties["category"], properties["timeGrain"]) == (1000.0, "Cost", "Annually")
    assert properties["timePeriod"] == {"startDate": "2026-11-01T00:00:00Z"}
    assert properties["filter"] == {"tags": {"name": "job", "operator": "In", "values": ["Math 7B: second"]}}
    assert [n["threshold"] for n in properties["notifications"].values()] == [50, 80, 100]
    for one in properties["notifications"].values():
        assert set(one) >= {"enabled", "operator", "threshold", "contactEmails"}
        assert one["contactEmails"] == ["ops@example.org"]
        assert one["operator"] in ("EqualTo", "GreaterThan", "GreaterThanOrEqualTo")
    assert storage["body"]["properties"]["amount"] == 33.34


def test_without_a_budget_the_plans_own_total_stands_there_and_is_said() -> None:
    plan: Plan = plans.optimal().model_copy(update={"tags": {}})
    found = tags_document(plan, asked(limits={}), DAY)
    assert plan.cost is not None
    assert [(alert["scope"], alert["usd"]) for alert in found["alerts"]] == [("total", plan.cost.total_usd)]
    assert any("limits.budget is not set" in note for note in found["notes"])
    subscribers = found["aws"]["create_budget"][0]["NotificationsWithSubscribers"][0]["Subscribers"]
    assert subscribers == [{"SubscriptionType": "EMAIL", "Address": "alerts@example.com"}]
    assert any("alerts@example.com" in note for note in found["notes"])


def _billed(*lines: tuple[str, str, float]) -> Plan:
    """The plan with these lines alone: dimension, item and USD."""
    made = [
        BillLine.model_validate({"dimension": d, "item": i, "kind": "fixed", "usd": u, "basis": ""})
        for d, i, u in lines
    ]
    return plans.optimal().model_copy(update={"cost": Cost(total_usd=sum(u for _, _, u in lines), lines=made)})


def test_clouds_watch_what_a_cloud_bills() -> None:
    bill = (("compute", "pool main", 600.0), ("operations", "loss to failures", 40.0), ("operations", "setup", 60.0))
    people = (("operations", "on call", 12.5), ("operations", "setup of the release", 3.0), ("data", "cleaning", 20.0))
    plan = _billed(*bill, *people, ("data", "labels", 4.5), ("storage", "dataset", 10.0))
    left = 60.0 + 12.5 + 3.0 + 20.0 + 4.5
    for limits, total in ((PARTS, 1000.0), ({}, 750.0)):
        found = tags_document(plan, asked(limits=limits), DAY)
        assert found["alerts"][0]["usd"] == total  # of the whole bill
        assert found["aws"]["create_budget"][0]["Budget"]["BudgetLimit"]["Amount"] == f"{total - left:.2f}"
        assert found["gcp"]["budgets"][0]["amount"]["specifiedAmount"]["units"] == str(int(total - left))
        assert found["azure"]["budgets"][0]["body"]["properties"]["amount"] == total - left
        (note,) = (note for note in found["notes"] if note.startswith("no cloud bills"))
        for words in (
            "data/labels 4.50 USD",
            "data/cleaning 20.00",
            "operations/setup 60.00",
            "operations/on call 12.50",
        ):
            assert words in note
        assert "failures" not in note
    # a dimension's own budget stands as it was given
    found = tags_document(plan, asked(limits=PARTS), DAY)
    assert found["aws"]["create_budget"][1]["Budget"]["BudgetLimit"]["Amount"] == "33.34"


def test_a_bill_of_people_alone_leaves_clouds_without_a_budget() -> None:
    found = tags_document(_billed(("operations", "setup", 60.0)), asked(limits={}), DAY)
    assert [alert["usd"] for alert in found["alerts"]] == [60.0]
    assert not found["aws"]["create_budget"]
    assert not any(note.startswith("no cloud") for note in tags_document(_billed(), asked(limits=PARTS), DAY)["notes"])


def test_a_tag_that_the_job_sets_itself_stays() -> None:
    plan = plans.optimal().model_copy(update={"tags": {"job": "mine"}})
    found = tags_document(plan, asked(limits=PARTS), DAY)
    assert found["tags"]["job"] == "mine"
    assert found["aws"]["create_budget"][0]["Budget"]["CostFilters"] == {"TagKeyValue": ["user:job$mine"]}


def test_long_names_leave_two_budgets_apart() -> None:
    plan = plans.optimal().model_copy(update={"tags": {"job": "x" * 300}})
    found = tags_document(plan, asked(limits=PARTS), DAY)
    names = [body["Budget"]["BudgetName"] for body in found["aws"]["create_budget"]]
    assert len(set(names)) == 2
    assert len({budget["name"] for budget in found["azure"]["budgets"]}) == 2
    filters = [str(budget["budgetFilter"]["labels"]) for budget in found["gcp"]["budgets"]]
    assert len(set(filters)) == 2


@given(st.dictionaries(st.text(min_size=1, max_size=300), st.text(max_size=400), max_size=6))
def test_every_cloud_gets_what_it_takes(tags: dict[str, str]) -> None:
    for cloud, pattern, most, longest in (
        (AWS, r"[\w +\-=.:/@]+", 128, 256),
        (GCP, r"[\w-]*", 63, 63),
        (AZURE, r"[^<>%&\\?/\x00-\x1f]+", 128, 256),
    ):
        found, changed = cloud.labels(tags)
        assert len(found) == len(tags)
        for (key, value), (old, before) in zip(found.items(), tags.items(), strict=True):
            assert re.fullmatch(pattern, key)
            assert 1 <= len(key) <= most
            assert len(value) <= longest
            assert cloud is AZURE or value == "" or re.fullmatch(pattern, value)
            assert key == old or (old, key) in [(one.original, one.written) for one in changed]
            assert value == before or (before, value) in [(one.original, one.written) for one in changed]
            assert cloud is not GCP or (key[0].isalpha() and (key + value) == (key + value).lower())


@pytest.mark.parametrize(("usd", "rounded"), [(10.0, 10.0), (33.335, 33.34), (0.1 + 0.2, 0.3), (0.001, 0.01)])
def test_amounts_are_rounded_up_to_the_cent(usd: float, rounded: float) -> None:
    assert cents(usd) == rounded


def test_trials_that_are_cut_off_say_when_and_what_each_may_cost(document: dict[str, Any]) -> None:
    assert document["trials"] is None
    cut = {"at": 0.6, "metric": "reward", "below": 0.4, "share": 0.5}
    plan = plans.optimal()
    assert plan.time is not None
    found = tags_document(plan, asked(limits=PARTS | {"cut_off": cut}), DAY)["trials"]
    # two trials, half of the second kind ends after 0.6 of it: 1000 USD are 1.8 runs
    assert found["count"] == 2
    assert found["cut_off"] == {
        "per": "trial", "at_share": 0.6, "at_step": -(-plan.time.steps * 6 // 10), "metric": "reward", "below": 0.4,
    }  # fmt: skip
    assert found["usd_each"] == pytest.approx(1000 / 1.8)
    assert found["usd_each_cut_off"] == pytest.approx(600 / 1.8)
    assert found["at"][0] == {"percent": 50, "usd": pytest.approx(500 / 1.8)}


def test_what_moves_to_another_tier_stands_there_as_rules() -> None:
    plan = plans.optimal()
    assert plan.decisions is not None
    assert tags_document(plan, asked(limits={}), DAY)["lifecycle"] == []
    role = plan.decisions.checkpoint.tiers[0].roles[0]
    saved = plan.decisions.checkpoint.model_copy(
        update={
            "moves": [Move(role=role, to="cold", after_hours=48.0), Move(role="recent", to="ice", after_hours=24.0)]
        }
    )
    kept = [
        Kept(item="dataset", tier="hot", gib=3.0, hours=900.0, to="cold", after_hours=72.0),
        Kept(item="base weights", tier="hot", gib=3.0, hours=9.0),
    ]
    made = plan.decisions.model_copy(update={"checkpoint": saved, "storage": kept})
    first = {role: use.tier for use in saved.tiers for role in use.roles}
    assert tags_document(plan.model_copy(update={"decisions": made}), asked(limits={}), DAY)["lifecycle"] == [
        {"item": f"{role} checkpoints", "from": first[role], "to": "cold", "after_days": 2,
         "counted_from": "end of the run" if role == "recent" else "creation"},
        {"item": "recent checkpoints", "from": first["recent"], "to": "ice", "after_days": 1,
         "counted_from": "end of the run"},
        {"item": "dataset", "from": "hot", "to": "cold", "after_days": 3, "counted_from": "creation"},
    ]  # fmt: skip
