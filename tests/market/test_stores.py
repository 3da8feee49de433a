"""Stores that state what a request asks: what is refused, and what requests to a key service cost."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from rlopt.data_dir import catalogs_dir
from rlopt.errors import MissingFactError
from rlopt.facts.files.folder import load_catalog
from rlopt.market.stores import lacks
from rlopt.pools.build import build_problem
from rlopt.problem import Problem
from rlopt.reading.model_facts import resolve_models
from rlopt.reading.request_file import read_request


@cache
def problem(providers: tuple[str, ...], key_usd: float | None = None, **limits: Any) -> Problem:
    """A small job, in the first region's catalogs."""
    asked = {
        "version": 1,
        "job": {
            "algorithm": "sft", "models": {"policy": "Qwen/Qwen2.5-0.5B"}, "prompts_per_step": 64, "steps": 50,
            "prompt_tokens": {"mean": 100, "max": 200}, "response_tokens": {"mean": 300, "max": 900},
        },
        "choices": {"providers": list(providers), "gpus": ["A100-80GB", "L4"], "pricing": ["on_demand"]},
        "limits": {"max_gpus": 8, "storage": {k: list(v) if isinstance(v, tuple) else v for k, v in limits.items()}},
        "costs": {} if key_usd is None else {"key_requests": f"{key_usd} USD"},
    }  # fmt: skip
    request, catalog = read_request(asked), load_catalog()
    return build_problem(request, catalog, resolve_models(request, catalog))


def names(found: Problem) -> set[str]:
    return {tier.name.split("/")[2] for tariff in found.tariffs for tier in tariff.tiers}


def test_facts_have_sources() -> None:
    from ruamel.yaml import YAML

    table = YAML(typ="safe", pure=True).load((catalogs_dir() / "stores.yaml").read_text(encoding="utf-8"))
    services = {f"{row.provider}/{row.service}" for row in load_catalog().storage}
    assert set(load_catalog().stores) <= services
    for name, entry in table.items():
        if isinstance(entry, dict):
            for fact in ("encrypted", "private"):
                assert entry.get(fact) is None or entry[f"{fact}_source"], name


def test_what_nothing_states_is_left_out() -> None:
    free, held = names(problem(("aws",))), names(problem(("aws",), encrypted=True))
    assert {"s3", "ebs"} <= free
    assert held == {"s3"}
    assert names(problem(("aws",), private=True)) == {"s3"}


def test_what_is_sold_from_a_least_size_up_holds_no_copies() -> None:
    catalog = load_catalog()
    least = {name for name, speed in catalog.speeds.items() if speed.least_gb}
    assert {"aws/us-east-1/fsx-for-openzfs/ssd", "aws/us-east-1/ebs/st1"} <= least
    for provider in ("aws", "azure", "gcp"):
        assert not least & {tier.name for tariff in problem((provider,)).tariffs for tier in tariff.tiers}


def test_a_store_elsewhere_stands_in_where_it_states_what_is_asked() -> None:
    assert names(problem(("runpod",), encrypted=True)) == {"s3"}


def test_countries_are_those_of_the_region() -> None:
    found = problem(("aws", "gcp"), countries=("US",))
    catalog = load_catalog()
    assert {catalog.country(*zone[:2]) for zone in found.market.zones} == {"US"}
    assert found.market.left_out["limits.storage"] > 0
    one = next(row for row in catalog.storage if row.service == "S3")
    assert lacks(found.request, found.catalog, one, "DE") == "countries"
    assert lacks(found.request, found.catalog, one, None) == "countries"
    assert lacks(found.request, found.catalog, one, "US") is None


def test_nothing_left_is_an_error_that_says_so() -> None:
    with pytest.raises(MissingFactError, match=r"limits\.storage"):
        problem(("aws", "gcp"), countries=("AQ",))


def test_requests_to_a_key_service_are_paid_with_each_file() -> None:
    plain, keyed = problem(("aws",)), problem(("aws",), 0.03)
    prices = {tier.name: tier for tier in plain.tariffs[0].tiers}
    for tier in keyed.tariffs[0].tiers:
        if tier.name in prices:
            assert tier.put_usd - prices[tier.name].put_usd == pytest.approx(0.03 / 10_000)
            assert tier.get_usd - prices[tier.name].get_usd == pytest.approx(0.03 / 10_000)
