"""Texts of samples as files in a store: where they stand, when they move, whether they are compressed."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.assembly.audit import audit
from rlopt.request import Request
from tests.studies.small import asked, solved, usd

TOKENS = 100.0 + 3000.0
SAMPLES = 64 * 4 * 100
GB = SAMPLES * TOKENS * 4 / 1e9
"""Every sample's text of the small run: 64 prompts x 4 samples x 100 steps, 4 bytes a token."""


def _request(kept_in: str = "store", keep: str = "720h", **more: Any) -> Request:
    return asked(
        "grpo",
        job={"text_log": {"kept_in": kept_in}, "response_tokens": {"mean": 3000, "max": 6000}, **more},
        floors={"text_log_rate": 1.0},
        costs={"currency": "USD", "keep_for": {"logs": keep}},
    )


def _line(plan: Plan, dimension: str, item: str) -> float | None:
    assert plan.cost is not None
    found = [line.usd for line in plan.cost.lines if (line.dimension, line.item) == (dimension, item)]
    return found[0] if found else None


def _stored(plan: Plan) -> dict[str, Any]:
    assert plan.decisions is not None
    return {row.item: row for row in plan.decisions.storage or []}


def test_files_are_billed_by_the_store_and_no_service() -> None:
    service, store = solved(_request("service")), solved(_request("store"))
    assert _line(service, "logging", "text log") is not None
    assert _line(service, "storage", "text log") is None
    assert _line(store, "logging", "text log") is None
    problem = problem_of(_request("store"))
    tariff = problem.tariffs[0]
    assert store.time is not None
    tier = next(tier for tier in tariff.tiers if tier.name == _stored(store)["text log"].tier)
    held = store.time.expected_hours / 2 + 720.0
    moved = _stored(store)["text log"].to
    if moved is None:
        wanted = GB * max(held, tier.min_hours) * tier.usd_gb_hour / (1 - (problem.request.floors.free_storage or 0.0))
        assert _line(store, "storage", "text log") == pytest.approx(wanted, rel=1e-6)
    assert store.decisions is not None
    assert store.decisions.logging.kept_in == "store"
    audit(store, problem)


def test_a_service_that_takes_texts_in_costs_more_than_files_of_few_requests() -> None:
    service, store = solved(_request("service")), solved(_request("store"))
    taken = _line(service, "logging", "text log") or 0.0
    stored = _line(store, "storage", "text log") or 0.0
    assert stored < taken
    assert usd(store) < usd(service)


def test_texts_kept_for_years_move_and_those_of_a_day_do_not() -> None:
    long, short = solved(_request(keep="26000h")), solved(_request(keep="24h"))
    assert _stored(long)["text log"].to is not None
    assert _stored(short)["text log"].to is None


@pytest.mark.parametrize(("vcpu_seconds", "pays"), [(0.001, True), (1e7, False)])
def test_texts_are_compressed_where_that_pays(vcpu_seconds: float, pays: bool) -> None:
    squeeze = {"logs": {"ratio": 0.25, "vcpu_seconds_per_gib": vcpu_seconds}}
    plain, packed = solved(_request(keep="8000h")), solved(_request(keep="8000h", compression=squeeze))
    assert (usd(packed) < usd(plain)) is pays
    assert _stored(packed)["text log"].compressed is pays
    if pays:
        assert (_line(packed, "compute", "compression") or 0.0) > 0.0
        assert _stored(packed)["text log"].gib == pytest.approx(0.25 * _stored(plain)["text log"].gib)
    else:
        assert usd(packed) == pytest.approx(usd(plain), abs=1e-9)


def test_a_service_takes_texts_as_they_are() -> None:
    squeeze = {"logs": {"ratio": 0.25, "vcpu_seconds_per_gib": 0.001}}
    assert usd(solved(_request("service", compression=squeeze))) == usd(solved(_request("service")))


def test_debugged_steps_and_abnormal_samples_are_files_of_their_own() -> None:
    plan = solved(
        asked(
            "grpo",
            job={"text_log": {"kept_in": "store", "debug_steps": 5, "abnormal_share": 0.1}},
            floors={"text_log_rate": 0.01},
        )
    )
    assert {"text log", "abnormal samples", "debugged steps"} <= set(_stored(plan))
