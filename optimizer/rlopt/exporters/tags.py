"""Cost-allocation tags and alert thresholds of a plan, as one document for three clouds (``rlopt solve --tags-out``).

A cloud's own budgets hold what a cloud bills: labels, cleaning and people's hours are taken off the total and named.
Every resource carries the job's tags; what a dimension of the bill pays for carries ``job-part`` beside them, since
a cloud's budget filters by one tag. Alerts stand at 50, 80 and 100 % of the budget, of each dimension's budget, of
the storage bought and, where trials are cut off (``limits.cut_off``), of each trial's part of the total. What moves to
another tier stands there as rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from rlopt.answers.plan import Plan
from rlopt.costs import data, operations
from rlopt.exporters.budgets import THRESHOLDS, Budget, Json, aws_budget, azure_budget, cents, gcp_budget
from rlopt.exporters.labels import AWS, AZURE, GCP, JOB, PART, Labelling, Renamed, emails, job_tags
from rlopt.request import Request
from rlopt.units import GIB, HOURS_PER_DAY

SCHEMA: Final = "rlopt.tags/1"
PLACEHOLDER: Final = "alerts@example.com"
"""Address of a reserved domain (RFC 2606): reaches nobody."""
TOTAL: Final = "total"
ON_A_CLOUD: Final = ("compute", "storage", "network", "cache", "logging")
"""Dimensions whose resources a cloud can tag; failures are machines' hours, without a tag of their own."""

CREATED: Final = "creation"
ENDED: Final = "end of the run"
"""What ages of bytes are counted from."""


def tags_document(plan: Plan, request: Request, day: date) -> Json:
    """Tags, alerts and budgets of a plan that can be carried out; budgets start on ``day`` or in its month."""
    tags, notes = job_tags(plan, request), list[str]()
    amounts = _amounts(plan, request, notes)
    mail = emails(tags)
    if not mail:
        notes.append(f"no tag of the job is an e-mail address: put yours in place of {PLACEHOLDER}")
    taken = _on_no_cloud(plan, notes)
    billed = [(scope, usd - taken if scope == TOTAL else usd) for scope, usd in amounts]
    watched = [(scope, usd) for scope, usd in billed if scope in (TOTAL, *ON_A_CLOUD) and cents(usd) > 0.0]
    beside = [scope for scope, _ in amounts if scope not in (TOTAL, *ON_A_CLOUD)]
    if beside:
        notes.append(f"{' and '.join(beside)}: on no cloud's bill under a tag of their own, so alerts alone stand here")
    notes.append("AWS and Azure count a budget by calendar year; its currency must be that of the account")
    return {
        "schema": SCHEMA,
        "tags": tags,
        "tags_by_dimension": {scope: {**tags, PART: _part(tags, scope)} for scope in ON_A_CLOUD},
        "alerts": [
            {"scope": scope, "usd": usd, "at": [{"percent": p, "usd": usd * p / 100.0} for p in THRESHOLDS]}
            for scope, usd in amounts
        ],
        "storage": _storage(plan),
        "trials": _trials(plan, request, next((usd for scope, usd in amounts if scope == TOTAL), 0.0)),
        "lifecycle": _lifecycle(plan),
        "aws": _aws(tags, watched, mail or [PLACEHOLDER], day),
        "gcp": _gcp(tags, watched, day),
        "azure": _azure(tags, watched, mail or [PLACEHOLDER], day),
        "notes": notes,
    }


def _amounts(plan: Plan, request: Request, notes: list[str]) -> list[tuple[str, float]]:
    """Amounts to watch: the budgets of the request, and the plan's own total where it sets none."""
    found = []
    if request.budget_usd is not None:
        found.append((TOTAL, request.budget_usd))
    elif plan.cost is not None:
        found.append((TOTAL, plan.cost.total_usd))
        notes.append("limits.budget is not set: the plan's own total stands in its place")
    return found + list(request.budgets_usd.items())


def _on_no_cloud(plan: Plan, notes: list[str]) -> float:
    """USD of the plan that no cloud bills, named in a note."""
    lines = [] if plan.cost is None else plan.cost.lines
    left = [line for line in lines if line.usd and (line.dimension == data.DIMENSION or line.item in operations.PEOPLE)]
    if left:
        named = ", ".join(f"{line.dimension}/{line.item} {line.usd:,.2f} USD" for line in left)
        notes.append(f"no cloud bills {named}: taken off the total that the clouds' own budgets watch")
    return math.fsum(line.usd for line in left)


def _part(tags: Mapping[str, str], scope: str) -> str:
    return f"{tags[JOB]}-{scope}"


def _name(tags: Mapping[str, str], scope: str) -> str:
    """Scope first, so that a long job name cut short leaves two budgets apart."""
    return f"{scope} {tags[JOB]}"


def _storage(plan: Plan) -> Json | None:
    """Bytes bought, and the thresholds of them."""
    if plan.storage_gib is None:
        return None
    size = plan.storage_gib * GIB
    return {"bytes": round(size), "at": [{"percent": p, "bytes": round(size * p / 100.0)} for p in THRESHOLDS]}


def _changes(changed: Sequence[Renamed]) -> list[dict[str, str]]:
    return [{"original": one.original, "written": one.written} for one in dict.fromkeys(changed)]


def _aws(tags: Mapping[str, str], watched: Sequence[tuple[str, float]], mail: Sequence[str], day: date) -> Json:
    labels, changed = AWS.labels(tags)
    return {
        "tags": labels,
        "changed": _changes(changed),
        "activate": [*labels, PART],
        "create_budget": [aws_budget(one, labels, mail, day) for one in _budgets(tags, watched, AWS)],
    }


def _gcp(tags: Mapping[str, str], watched: Sequence[tuple[str, float]], day: date) -> Json:
    labels, changed = GCP.labels(tags)
    budgets = [gcp_budget(one, day) for one in _budgets(tags, watched, GCP)]
    return {"labels": labels, "changed": _changes(changed), "budgets": budgets}


def _azure(tags: Mapping[str, str], watched: Sequence[tuple[str, float]], mail: Sequence[str], day: date) -> Json:
    labels, changed = AZURE.labels(tags)
    budgets = [azure_budget(one, mail, day) for one in _budgets(tags, watched, AZURE)]
    return {"tags": labels, "changed": _changes(changed), "budgets": budgets}


def _budgets(tags: Mapping[str, str], watched: Sequence[tuple[str, float]], cloud: Labelling) -> list[Budget]:
    """The amounts to watch, each with the one tag that its resources carry there."""
    found = []
    for scope, usd in watched:
        key, value = _label(tags, scope)
        found.append(Budget(scope, usd, _name(tags, scope), cloud.key(key), cloud.value(value)))
    return found


def _label(tags: Mapping[str, str], scope: str) -> tuple[str, str]:
    """The one tag that a budget filters by."""
    return (JOB, tags[JOB]) if scope == TOTAL else (PART, _part(tags, scope))


def _lifecycle(plan: Plan) -> list[Json]:
    """One rule for each kind of bytes that moves to another tier; none where all stay where they are.

    Ages are whole days, as rules of object stores count them (S3 "Transitioning objects using Amazon S3 Lifecycle",
    Cloud Storage "Object Lifecycle Management": condition ``age``, Azure "Blob lifecycle management": days after
    modification).
    """
    made = plan.decisions
    if made is None:
        return []
    first = {role: use.tier for use in made.checkpoint.tiers for role in use.roles}
    moves = [
        (f"{move.role} checkpoints", first[move.role], move.to, move.after_hours, move.role == "recent")
        for move in made.checkpoint.moves
    ]
    moves += [(kept.item, kept.tier, kept.to, kept.after_hours or 0.0, False) for kept in made.storage if kept.to]
    return [
        {
            "item": item,
            "from": here,
            "to": there,
            "after_days": round(hours / HOURS_PER_DAY),
            "counted_from": ENDED if ended else CREATED,
        }
        for item, here, there, hours, ended in moves
    ]


def _trials(plan: Plan, request: Request, total_usd: float) -> Json | None:
    """When trials are stopped by ``limits.cut_off``, and each full trial's part of ``total_usd``; None without a rule.

    A trial that is cut off has the part of its steps that it ran.
    """
    cut = request.limits.cut_off
    if cut is None or plan.time is None:
        return None
    each = total_usd / request.billed_runs
    return {
        "count": request.job.trials,
        "cut_off": {
            "per": cut.per,
            "at_share": cut.at,
            "at_step": math.ceil(cut.at * plan.time.steps),
            "metric": cut.metric,
            "below": cut.below,
        },
        "usd_each": each,
        "usd_each_cut_off": each * cut.at,
        "at": [{"percent": percent, "usd": each * percent / 100.0} for percent in THRESHOLDS],
    }
