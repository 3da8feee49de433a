"""Budgets with alerts as each cloud's own interface takes them.

AWS: the body of ``budgets:CreateBudget`` (API 2016-10-20), the account left to the caller. GCP: a ``Budget`` of the
Cloud Billing Budget API v1, whose filter takes a single label. Azure: the body of a ``Microsoft.Consumption/budgets``
resource (2023-05-01). None of them knows a budget of one run: AWS and Azure count by calendar year, GCP from a day on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

THRESHOLDS: Final = (50, 80, 100)
"""Percent of an amount that an alert is sent at."""
AZURE_API: Final = "2023-05-01"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of the bill to watch, and the one tag that its resources carry."""

    scope: str
    """total, or a dimension of the bill."""
    usd: float
    name: str
    key: str
    value: str


def cents(usd: float) -> float:
    """Rounded up to the cent, so that a plan which keeps its budget raises no alert of its own."""
    return math.ceil(round(usd * 100.0, 6)) / 100.0


def aws_budget(budget: Budget, tags: Mapping[str, str], mail: Sequence[str], day: date) -> Json:
    """The request of CreateBudget without its AccountId."""
    subscribers = [{"SubscriptionType": "EMAIL", "Address": address} for address in mail[:10]]
    return {
        "Budget": {
            "BudgetName": re.sub(r"[:\\<>]", "-", budget.name)[:100],
            "BudgetLimit": {"Amount": f"{cents(budget.usd):.2f}", "Unit": "USD"},
            "CostFilters": {"TagKeyValue": [f"user:{budget.key}${budget.value}"]},
            "TimeUnit": "ANNUALLY",
            "TimePeriod": {"Start": f"{day.replace(day=1).isoformat()}T00:00:00Z"},
            "BudgetType": "COST",
        },
        "NotificationsWithSubscribers": [
            {
                "Notification": {
                    "NotificationType": "ACTUAL",
                    "ComparisonOperator": "GREATER_THAN",
                    "Threshold": float(percent),
                    "ThresholdType": "PERCENTAGE",
                },
                "Subscribers": subscribers,
            }
            for percent in THRESHOLDS
        ],
        "ResourceTags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }


def gcp_budget(budget: Budget, day: date) -> Json:
    """A Budget resource; whoever administers the billing account is written to."""
    whole = round(cents(budget.usd) * 100.0)
    return {
        "displayName": budget.name[:60],
        "budgetFilter": {
            "labels": {budget.key: [budget.value]},
            "customPeriod": {"startDate": {"year": day.year, "month": day.month, "day": day.day}},
        },
        "amount": {
            "specifiedAmount": {
                "currencyCode": "USD",
                "units": str(whole // 100),
                "nanos": whole % 100 * 10_000_000,
            }
        },
        "thresholdRules": [
            {"thresholdPercent": percent / 100.0, "spendBasis": "CURRENT_SPEND"} for percent in THRESHOLDS
        ],
    }


def azure_budget(budget: Budget, mail: Sequence[str], day: date) -> Json:
    """Name and body of the resource."""
    return {
        "name": re.sub(r"[^A-Za-z0-9_-]", "-", budget.name)[:63],
        "apiVersion": AZURE_API,
        "body": {
            "properties": {
                "category": "Cost",
                "amount": cents(budget.usd),
                "timeGrain": "Annually",
                "timePeriod": {"startDate": f"{day.replace(day=1).isoformat()}T00:00:00Z"},
                "filter": {"tags": {"name": budget.key, "operator": "In", "values": [budget.value]}},
                "notifications": {
                    f"actual_{percent}_percent": {
                        "enabled": True,
                        "operator": "GreaterThanOrEqualTo",
                        "threshold": percent,
                        "thresholdType": "Actual",
                        "contactEmails": list(mail),
                    }
                    for percent in THRESHOLDS
                },
            }
        },
    }
