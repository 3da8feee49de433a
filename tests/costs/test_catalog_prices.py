"""The bill of a real plan on one cloud, every line of it recomputed from the rows of the catalogs."""

from __future__ import annotations

from functools import cache

import pytest

from rlopt.answers.plan import Plan
from rlopt.facts.files.folder import load_catalog
from rlopt.pools.build import build_problem
from rlopt.problem import Problem
from rlopt.reading.model_facts import resolve_models
from rlopt.reading.request_file import read_request
from rlopt.request.costs import AutomaticRelease, Idle
from rlopt.request.job.cache import Cache
from rlopt.request.job.data_work import DataWork, StandsIn
from rlopt.request.job.metrics import Metrics, TextLog
from rlopt.studies.cheapest import cheapest
from rlopt.units import Money
from tests.catalogs.rows import Row, read

STEPS, PROMPTS, SIZE, TRIALS = 50, 64, 8, 2
DATA_GB = 300.0
GIB = 2.0**30
PARAMS = 494e6


@cache
def solved(region: str, provider: str) -> tuple[Plan, Problem]:
    """The cheapest plan in one region, with every service used; 494 M parameters, all trained."""
    asked = read_request(
        {
            "version": 1,
            "job": {
                "algorithm": "grpo",
                "models": {"policy": "Qwen/Qwen2.5-0.5B", "reference": "none", "reward": "rule"},
                "prompts_per_step": PROMPTS,
                "steps": STEPS,
                "dataset_size": "300 GB",
                "trials": TRIALS,
                "prompt_tokens": {"mean": 100, "max": 200},
                "response_tokens": {"mean": 300, "max": 900},
            },
            "choices": {
                "providers": [provider],
                "regions": [region],
                "gpus": ["A100-80GB", "A100-40GB", "L4"],
                "pricing": ["on_demand"],
                "group_size": [SIZE],
            },
            "limits": {"max_gpus": 16},
            "floors": {
                "text_log_rate": 0.1,
                "checkpoints": {"keep_recent": 2, "keep_best": 1, "history_every": 25},
            },
            "costs": {"engineer_hour": "100 USD", "on_call_hours_per_day": 1},
        }
    )
    catalog = load_catalog()
    models = resolve_models(asked, catalog)
    for key, value in (
        ("job.metrics", Metrics(scalars=20, hardware=3)),
        ("job.text_log", TextLog(abnormal_share=0.05, debug_steps=10)),
        ("job.cache", Cache(replay=20 * GIB)),
        ("job.data", DataWork(stands_in=StandsIn(provider="aws", region="us-west-2"), new_samples=300,
                              label_price=Money(2.0, "USD"), compression_ratio=0.5)),
        ("costs.idle", Idle(before_release=3600.0, automatic=AutomaticRelease(within=300.0, setup_hours=1.0))),
    ):  # fmt: skip
        asked = asked.replaced(key, value)
    problem = build_problem(asked, catalog, models)
    return cheapest(problem), problem


def row(name: str, key: str, value: str) -> Row:
    return next(entry for entry in read(name) if entry[key] == value)


def number(text: str) -> float:
    return float(text or 0.0)


def usd(plan: Plan) -> dict[str, float]:
    assert plan.cost is not None
    return {f"{line.dimension}/{line.item}": line.usd for line in plan.cost.lines}


def hours(plan: Plan) -> tuple[float, float]:
    assert plan.time is not None
    return plan.time.failure_free_hours, plan.time.expected_hours


def tier_of(plan: Plan, role: str) -> Row:
    assert plan.decisions is not None
    use = next(use for use in plan.decisions.checkpoint.tiers if role in use.roles)
    return row("storage.csv", "id", use.tier)


AWS, GCP = ("us-east-1", "aws"), ("us-central1", "gcp")


@pytest.mark.parametrize("place", [AWS, GCP])
def test_machines(place: tuple[str, str]) -> None:
    plan, _ = solved(*place)
    clean, expected = hours(plan)
    rates = {}
    for pool in plan.pools:
        name = "offers.csv" if pool.gpus else "cpu_offers.csv"
        rates[pool.name] = pool.nodes * float(row(name, "id", pool.offer)["price_per_hour"])
        assert usd(plan)[f"compute/pool {pool.name}"] == pytest.approx(rates[pool.name] * clean)
    rate = sum(rates.values())
    assert usd(plan)["compute/tuning trials"] == pytest.approx(rate * clean)
    assert usd(plan)["operations/loss to failures"] == pytest.approx((expected - clean) * rate * TRIALS)
    by_hand, script = rate * TRIALS, rate * TRIALS / 12
    idle = usd(plan)["operations/idle before release"] + usd(plan).get("operations/setup of the release", 0.0)
    assert idle == pytest.approx(min(by_hand, script + 100.0))
    assert usd(plan)["operations/on call"] == pytest.approx(expected * TRIALS / 24 * 100)


@pytest.mark.parametrize("place", [AWS, GCP])
def test_stores(place: tuple[str, str]) -> None:
    plan, problem = solved(*place)
    assert plan.decisions is not None
    _, expected = hours(plan)
    state, weights = problem.checkpoint.resumable_bytes / 1e9, problem.checkpoint.weights_bytes / 1e9
    assert weights == pytest.approx(2 * PARAMS / 1e9, rel=0.01)
    saves, gpus, kept = -(-STEPS // plan.decisions.checkpoint.interval_steps), plan.pools[0].gpus, 720.0
    stops = sum(pool.failures_per_hour for pool in plan.pools) * expected
    recent, best, history = (tier_of(plan, role) for role in ("recent", "best", "history"))
    moves = {
        move.role: (move.after_hours, row("storage.csv", "id", move.to)) for move in plan.decisions.checkpoint.moves
    }
    assert set(moves) == {"best"}
    least = {name: number(tier["min_days"]) * 24 for name, tier in (("r", recent), ("b", best), ("h", history))}
    early = max(saves - 2, 0) * max(least["r"] - 2 * expected / saves, 0) + 2 * max(least["r"] - kept, 0)
    held = 3 * expected + 2 * kept + early
    month = {name: number(tier["price_gb_month"]) / 730 for name, tier in (("r", recent), ("b", best), ("h", history))}
    found = usd(plan)
    assert found["storage/recent checkpoints"] == pytest.approx(TRIALS * state * held * month["r"])
    # the best copy is hot for a day and moves; the one before it is deleted when the run is over
    after, cold = moves["best"]
    later = max(expected + kept - after, number(cold["min_days"]) * 24) * number(cold["price_gb_month"]) / 730
    paid = TRIALS * weights * ((max(after, least["b"]) + max(expected, least["b"])) * month["b"] + later)
    assert found["storage/best checkpoints"] == pytest.approx(paid)
    paid = TRIALS * 2 * weights * max(expected / 2 + kept, least["h"]) * month["h"]
    assert found["storage/history checkpoints"] == pytest.approx(paid)
    puts = saves * number(recent["put_per_1000"]) + 2 * number(best["put_per_1000"])
    puts += 2 * number(history["put_per_1000"]) + number(cold["put_per_1000"])
    gets = stops * number(recent["get_per_1000"]) + 2 * number(best["get_per_1000"])
    assert found["storage/requests"] == pytest.approx(TRIALS * gpus * (puts + gets) / 1000)
    # the data set, half its size, stands where holding and one reading a run cost least, and moves after that
    kept_data = next(one for one in plan.decisions.storage if one.item == "dataset")
    assert kept_data.to is not None
    assert kept_data.after_hours == 24.0
    data, cold = row("storage.csv", "id", kept_data.tier), row("storage.csv", "id", kept_data.to)
    paid = max(24.0, number(data["min_days"]) * 24) * number(data["price_gb_month"])
    paid += max(TRIALS * expected + 720 - 24.0, number(cold["min_days"]) * 24) * number(cold["price_gb_month"])
    assert found["storage/dataset"] == pytest.approx(DATA_GB / 2 * paid / 730)
    reads = stops * state * number(recent["retrieval_per_gb"]) + 2 * weights * number(best["retrieval_per_gb"])
    reads += DATA_GB / 2 * (1 + 1 / TRIALS) * number(data["retrieval_per_gb"])
    assert found["storage/retrieval"] == pytest.approx(TRIALS * reads)


def test_traffic() -> None:
    plan, problem = solved(*AWS)
    rows = [entry for entry in read("traffic.csv") if entry["provider"] == "aws" and not entry["service"]]
    across = next(r for r in rows if r["region"] == "us-west-2" and r["kind"] == "cross_region")
    out = next(r for r in rows if r["region"] == "us-east-1" and r["kind"] == "egress_internet")
    price = float(across["bands"].split(":")[1])
    assert usd(plan)["network/data set from elsewhere"] == pytest.approx(DATA_GB / 2 * price)
    price = float(out["bands"].split("|")[0].split(":")[1])
    weights = problem.checkpoint.weights_bytes / 1e9
    assert usd(plan)["network/final weights"] == pytest.approx(weights * price)
    # gcp brings it in over the internet, out of aws us-west-2
    west = next(r for r in rows if r["region"] == "us-west-2" and r["kind"] == "egress_internet")
    price = float(west["bands"].split("|")[0].split(":")[1])
    assert usd(solved(*GCP)[0])["network/data set from elsewhere"] == pytest.approx(DATA_GB / 2 * price)


def test_logs() -> None:
    plan, _ = solved(*AWS)
    _, expected = hours(plan)
    log = row("logging.csv", "id", "aws/cloudwatch-logs/ingest-infrequent-access-class")
    metric = row("logging.csv", "id", "aws/cloudwatch/custom-metric-first-10k")
    gpus = sum(pool.gpus for pool in plan.pools)
    series = float(metric["metric_month"]) / 730 * expected * TRIALS
    assert usd(plan)["logging/metrics"] == pytest.approx(20 * series)
    assert usd(plan)["logging/hardware metrics"] == pytest.approx(3 * gpus * series)
    sample, ingest, month = 400 * 4 / 1e9, float(log["ingest_per_gb"]), float(log["retention_gb_month"]) / 730
    long, short = (ingest + month * (expected / 2 + kept) for kept in (720, 72))
    samples = TRIALS * PROMPTS * SIZE * sample
    assert usd(plan)["logging/text log"] == pytest.approx(samples * STEPS * 0.1 * long)
    assert usd(plan)["logging/abnormal samples"] == pytest.approx(samples * STEPS * 0.9 * 0.05 * long)
    assert usd(plan)["logging/debugged steps"] == pytest.approx(samples * 10 * 0.9 * 0.95 * short)
    # gcp bills metrics by what is taken in: 8 bytes a point, a point every step, 60 an hour from each GPU
    plan, _ = solved(*GCP)
    _, expected = hours(plan)
    price = float(row("logging.csv", "id", "gcp/cloud-monitoring/metric-data-first-100k-mib")["metric_per_gb"])
    gpus = sum(pool.gpus for pool in plan.pools)
    assert usd(plan)["logging/metrics"] == pytest.approx(TRIALS * 20 * STEPS * 8 / 1e9 * price)
    assert usd(plan)["logging/hardware metrics"] == pytest.approx(TRIALS * 3 * gpus * expected * 60 * 8 / 1e9 * price)


def test_cache_and_labels() -> None:
    plan, _ = solved(*GCP)
    _, expected = hours(plan)
    # 20 GiB: at the price seen at 5 GB that is 0.54 USD/h, at the one seen at 25 GB, bought whole, 0.575
    price = float(row("caches.csv", "id", "gcp/us-central1/memorystore-redis-basic/m2-5-gb")["per_gib_hour"])
    assert usd(plan)["cache/fast store"] == pytest.approx(TRIALS * 20 * price * expected)
    assert usd(plan)["data/labels"] == pytest.approx(300 * 2.0)
    # no size of aws's stores is known: gcp's stands in, and the plan says so
    plan, _ = solved(*AWS)
    assert usd(plan)["cache/fast store"] == pytest.approx(TRIALS * 20 * price * hours(plan)[1])
    assert any("aws lists no fast store of known size" in text for text in plan.warnings)
