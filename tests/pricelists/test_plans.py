"""Plans with prices of one's own: proven by both backends, audited, never discounted twice, within what there is."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from rlopt import api
from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.pricelists import store
from rlopt.pricelists.catalog import facts_of
from rlopt.reading.request_file import load_request
from rlopt.request import Request
from tests.pricelists.lists import FIGURES, HALL, RENTED, own, read

REQUEST = """\
version: 1
extends: [grpo]
job:
  name: small
  algorithm: grpo
  models: {policy: Qwen/Qwen2.5-1.5B-Instruct, reference: policy, reward: rule}
  prompts_per_step: 64
  steps: 50
  prompt_tokens: {mean: 180, max: 1024}
  response_tokens: {mean: 400, max: 2048}
choices:
  offers: prices.csv
  providers: [onprem]
  gpus: [H100-SXM]
  pricing: [on_demand]
  placements: [colocated]
  group_size: [8]
  mixed_pools: false
limits: {deadline: 24h, max_gpus: 64}
costs: {engineer_hour: 0 USD}
"""
IN_HALL = "onprem/hall-1/any/dgx-h100/on_demand"


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    """A request beside a price list."""

    def make(*rows: dict[str, object], changes: tuple[str, ...] = (), text: str = REQUEST) -> Request:
        (tmp_path / "prices.csv").write_text(own(*rows), encoding="utf-8")
        (tmp_path / "request.yaml").write_text(text, encoding="utf-8")
        return load_request(tmp_path / "request.yaml", changes)

    return make


def test_own_machines_are_planned_at_their_price_by_both_backends(ask: Any) -> None:
    request = ask(HALL | FIGURES, changes=("choices.discounts={onprem: 0.5}",))
    pulp, ortools = (api.solve(request, backend, short_frontier=False) for backend in ("pulp", "ortools"))
    for plan in (pulp, ortools):
        assert (plan.status, plan.pools[0].offer) == ("optimal", IN_HALL)
        assert plan.pools[0].usd_per_hour == pytest.approx(14.979362 * plan.pools[0].nodes)  # no discount is taken off
        (price,) = (one for one in plan.provenance.prices if one.offer == IN_HALL)
        assert (price.source, price.as_of) == ("prices.csv", "2026-11-02")
        assert {"price list prices.csv"} <= {one.name for one in plan.provenance.catalogs}
        assert "choices.discounts of onprem is not taken off your own prices there" in plan.warnings
    assert pulp.cost is not None
    assert ortools.cost is not None
    assert pulp.cost.total_usd == pytest.approx(ortools.cost.total_usd, rel=1e-6)


def test_no_plan_takes_more_machines_than_there_are(ask: Any) -> None:
    tight = ("limits.deadline=3h", "job.steps=300")
    free = api.solve(ask({**HALL, **FIGURES, "max_machines": ""}, changes=tight), short_frontier=False)
    assert free.pools[0].nodes > 1
    held = api.solve(ask({**HALL, **FIGURES, "max_machines": 1}, changes=tight), short_frontier=False)
    assert held.status == "infeasible"
    assert any("at most 8 GPUs of onprem" in warning for warning in held.warnings)
    wider = [one for one in held.relaxations if not isinstance(one, list) and one.constraint == "limits.quotas[0]"]
    assert [one.to for one in wider] == [free.pools[0].gpus]


def test_a_quota_of_an_offer_holds_in_a_request(ask: Any) -> None:
    quota = f"limits.quotas=[{{offer: {IN_HALL}, max_gpus: 0}}]"
    rows = HALL | FIGURES, HALL | FIGURES | {"region": "hall-2", "capital": 900000}
    plan = api.solve(ask(*rows, changes=(quota,)), short_frontier=False)
    assert [pool.region for pool in plan.pools if pool.gpus] == ["hall-2"]  # dearer, but free of the quota


def test_explain_and_alternatives_keep_the_price_list(ask: Any) -> None:
    request = ask(HALL | FIGURES)
    assert facts_of(request, api.facts_of(request)) == api.facts_of(request)
    problem = api.problem_of(api.problem_of(request).request, facts_of(request))
    assert [row.offer for row in problem.request.limits.quotas] == [IN_HALL]
    assert [one.name for one in problem.catalog.provenance].count("price list prices.csv") == 1


def test_every_row_that_cannot_be_used_is_an_error_at_once(ask: Any) -> None:
    bad = {**RENTED, "price_per_hour": "0"}, {**RENTED, "as_of": "soon"}, {**HALL, "price_per_hour": 3, "gpu": "H100"}
    with pytest.raises(InputError) as caught:
        facts_of(ask(RENTED | {"region": "us-east-2"}, *bad))
    assert [(one.line, one.key) for one in caught.value.complaints] == [(3, "price_per_hour"), (4, "as_of"), (5, "gpu")]
    assert all(Path(one.file or "").name == "prices.csv" for one in caught.value.complaints)


@pytest.mark.parametrize("path", ["../prices.csv", "/etc/passwd", "a/../../prices.csv", "link.csv"])
def test_a_file_leads_to_no_list_outside_its_folder(path: str, tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    for place in (tmp_path / "prices.csv", tmp_path / "team" / "prices.csv"):
        place.write_text(own(RENTED), encoding="utf-8")
    (tmp_path / "team" / "link.csv").symlink_to(tmp_path / "prices.csv")
    file = tmp_path / "team" / "request.yaml"
    file.write_text(REQUEST.replace("prices.csv", path), encoding="utf-8")
    with pytest.raises(InputError, match="leads out of the file's folder"):
        load_request(file)
    if path != "/etc/passwd":
        chosen = load_request(file, [f"choices.offers={tmp_path / 'prices.csv'}"]).choices.offers
        assert chosen == str(tmp_path / "prices.csv")  # who types it means it


def test_a_list_of_others_prices_is_none_of_ones_own(ask: Any, tmp_path: Path) -> None:
    request = ask(RENTED)
    (tmp_path / "prices.csv").write_text(
        "instance_name,location,price,gpu_count,gpu_name,spot,provider\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="is a list of gpuhunt, not of your own prices"):
        facts_of(request)


def test_a_user_catalog_is_planned_with(ask: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "catalogs"))
    request = ask(RENTED, text=REQUEST.replace("  offers: prices.csv\n", "").replace("[onprem]", "[aws]"))
    shipped = {one.id: one for one in api.catalog().offers}
    assert api.catalog() is load_catalog()  # nothing is brought in: one look at a folder that is not there
    with store.locked():
        store.save(read(own({**RENTED, "price_per_hour": 1.5}), name="team"), load_catalog(), date(2026, 11, 21))
    plan = api.solve(request, short_frontier=False)
    assert plan.pools[0].offer == "aws/us-east-1/any/p5.48xlarge/on_demand"
    assert plan.pools[0].usd_per_hour == pytest.approx(1.5 * plan.pools[0].nodes)
    assert ("user catalog team", "2026-11-02") in {(one.name, one.as_of) for one in plan.provenance.catalogs}
    store.forget("team")
    assert {one.id: one for one in api.catalog().offers} == shipped
