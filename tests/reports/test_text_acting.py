"""Rows of a report on how the policy acts and what its samples are screened by."""

from __future__ import annotations

from rlopt.reports.text.choices import acting
from tests.reports import rich_plans

SCREENING = {"pool": "rollout", "seconds": 47.2, "stored_gb": 0.578, "traffic_gb": 1.156, "update_seconds": 414.0}


def test_nothing_is_said_where_nothing_was_open() -> None:
    made = rich_plans.acting().decisions
    assert made is not None
    assert acting(made) == []


def test_a_head_and_what_screening_takes_and_spares() -> None:
    made = rich_plans.acting().decisions
    assert made is not None
    rows = acting(made.model_copy(update={"action_head": "one_step", "screening": SCREENING}))
    assert rows == [
        ("action head", "a single denoising step a chunk of actions"),
        ("screening", "the value model scores all samples in the rollout pool, 47.2 s of a step"),
        ("", "spares 0.578 GB of storage, 1.16 GB of traffic and 414 s of updates a step"),
    ]
    (where, _) = acting(made.model_copy(update={"screening": SCREENING | {"pool": "main"}}))
    assert where[1].startswith("the value model scores all samples in the one pool")
