"""Checkpoints, intervals, failure rates and the join of estimates with prices."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from rlopt.answers.plan import LayoutChoice
from rlopt.assembly.audit import straddles
from rlopt.facts import FailureRate
from rlopt.facts.files.folder import load_catalog
from rlopt.pools.builder import join_pools
from rlopt.pools.checkpoints import checkpoint_sizes, intervals
from rlopt.pools.pricing import Needs, interruption_rates, is_one, price_rows, spread
from rlopt.pools.sampling.table import engines
from rlopt.problem import Market, Pools, Seconds, Times
from rlopt.workloads import Role
from rlopt.workloads.variants import Variant
from tests.costs.hand import MARKET, MODEL, columns_of, hand_problem, neutral, request
from tests.costs.test_twins import plan_of
from tests.pools.parts import MOE, context


def rate(kind: str, provider: str, pricing: str, gpu: float | None, node: float | None) -> FailureRate:
    return FailureRate(f"{kind}-{provider}", provider, "any", pricing, kind, gpu, node, 0.0, 1.0, "test", "")


def with_rates(*rates: FailureRate) -> np.ndarray:
    return interruption_rates(MARKET, replace(hand_problem().catalog, reliability=rates))


def test_stops_of_a_node() -> None:
    # 0.01 a GPU and hour, 0.1 a spot node and hour; nodes of 2, 2 (spot) and 4 GPUs
    found = with_rates(
        rate("failure", "any", "any", 0.01, None),
        rate("reclaim", "any", "spot", None, 0.1),
    )
    assert found == pytest.approx([0.02, 0.12, 0.04])


def test_the_named_providers_rate_counts_first() -> None:
    found = with_rates(
        rate("failure", "any", "any", 0.01, None),
        rate("failure", "south", "any", None, 0.5),
        rate("reclaim", "any", "spot", 0.1, None),
    )
    assert found == pytest.approx([0.02, 0.02 + 0.2, 0.5])


def test_an_unknown_rate_is_not_a_number_and_its_offers_are_left_out() -> None:
    found = with_rates(rate("failure", "any", "any", 0.01, None))
    assert np.isnan(found).tolist() == [False, True, False]
    assert set(priced(found, nodes=[1]).offer.tolist()) == {0}


def priced(
    stops: np.ndarray,
    nodes: list[int],
    topology: list[int] | None = None,
    host: float = 0.0,
    disk: float = 0.0,
    market: Market = MARKET,
) -> Pools:
    size = len(nodes)
    plain = ("group_size", "update_precision", "estimate")
    given: dict[str, Any] = {"times": Times.same(Seconds(*np.full((2, size), 60.0)))}
    given |= {name: np.arange(size) for name in plain}
    made = (*plain, "term_hours", "environment_usd_per_hour", "disk_gb", "disk_gib", "host_gib")
    given |= {name: values for name, values in neutral(size).items() if name not in made}
    kinds, environments = np.array(topology or [0] * size), np.zeros((2, 1))
    return price_rows(market, stops, environments, Needs.of(kinds, np.array(nodes), host, disk), given)


def test_every_estimate_meets_every_offer_of_its_machine() -> None:
    found = priced(np.array([0.1, 0.2, 0.3]), nodes=[1, 3], topology=[0, 1])
    assert sorted(zip(found.estimate.tolist(), found.offer.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2)]
    last = found.take(found.offer == 2)
    assert last.gpus.tolist() == [12]
    assert last.usd_per_hour.tolist() == [36.0]
    assert last.failures_per_hour == pytest.approx([0.9])
    assert last.zone.tolist() == [1]
    assert found.spot.tolist() == [offer == 1 for offer in found.offer]


def test_more_nodes_than_an_offer_has_and_more_host_memory_than_a_node_has() -> None:
    stops = np.zeros(3)
    assert len(priced(stops, nodes=[5])) == 0  # four nodes at most
    assert len(priced(stops, nodes=[4])) == 2
    assert len(priced(stops, nodes=[1], host=257.0)) == 0
    assert len(priced(stops, nodes=[1], host=256.0)) == 2


def test_disk_beyond_a_machines_own_is_rented_on_every_node() -> None:
    found = priced(np.zeros(3), nodes=[2], disk=10.0)  # machines without a disk of their own
    assert found.disk_gib.tolist() == [10.0, 10.0]
    assert found.disk_gb == pytest.approx(2 * 10 * 2**30 / 1e9)


def test_a_machine_with_its_own_disk_still_boots_from_a_volume_where_the_provider_lists_them() -> None:
    own = replace(MARKET, local_disk_gib=np.full(3, 1000.0), boot_disk_gib=np.array([30.0, 30.0, 0.0]))
    gb = 2**30 / 1e9
    found = priced(np.zeros(3), market=own, nodes=[2], disk=40.0)
    assert found.offer.tolist() == [0, 1]
    assert found.disk_gb == pytest.approx(2 * 30 * gb)
    # what exceeds the machine's own disk is rented whole when it is more than that volume
    found = priced(np.zeros(3), market=own, nodes=[2], disk=1100.0)
    assert found.disk_gb == pytest.approx(2 * 100 * gb)
    assert priced(np.zeros(3), market=replace(own, boot_disk_gib=None), nodes=[2], disk=40.0).disk_gb.tolist() == [0, 0]


def test_bytes_of_a_checkpoint() -> None:
    workload = hand_problem().workload
    found = checkpoint_sizes(request(), workload, load_catalog().calibration)
    # 10e9 weights of 2 bytes, and 12 more for the fp32 master copy and two moments
    assert found.weights_bytes == 20e9
    assert found.resumable_bytes == 140e9
    critic = Role("critic", replace(MODEL, params=1e9), True)
    reference = Role("reference", MODEL, False)
    both = replace(workload, roles=(*workload.roles, critic, reference))
    assert checkpoint_sizes(request(), both, load_catalog().calibration).resumable_bytes == 154e9
    assert checkpoint_sizes(request(), both, load_catalog().calibration).weights_bytes == 20e9
    assert set(load_catalog().calibration.memory["saved_optimizer_bytes"]) == {"adamw", "adamw_bf16", "adamw_8bit"}


@pytest.mark.parametrize(
    ("every", "steps", "expected"),
    [
        (18, 36, (1, 2, 3, 6, 9, 18)),
        (18, 7, (1, 2, 3, 6)),
        (7, 100, (1, 7)),
        (None, 36, (1, 2, 5, 10, 20, 36)),
        (None, 1, (1,)),
    ],
)
def test_intervals_divide_the_history_or_form_a_grid(every: int | None, steps: int, expected: tuple[int, ...]) -> None:
    asked = request(floors={"checkpoints": {"history_every": every}})
    workload = replace(hand_problem().workload, steps={8: steps})
    assert intervals(asked, (Variant(workload, cleaned=False),)) == {(0, 8): expected}


def test_operations_say_what_is_assumed() -> None:
    found = load_catalog().operations
    assert found.overhead_hours == pytest.approx((found.startup_minutes + found.shutdown_minutes) / 60)
    assert any(text.startswith("startup 15 min") for text in found.assumed)
    assert not any(text.startswith("restart") for text in found.assumed)


@pytest.mark.parametrize(
    ("gpus_per_node", "cluster", "gpus", "expected"),
    [
        (5, False, 10, {1}),  # two halves of a pair on two machines are not a pair
        (6, False, 12, {1, 2}),
        (3, False, 12, {1}),
        (8, False, 16, {1, 2, 4, 8}),
        (8, True, 24, {1, 2, 4, 8}),  # 16 GPUs do not divide 24
        (8, True, 32, {1, 2, 4, 8, 16, 32}),
        (4, True, 32, {1, 2, 4}),
        (6, True, 24, {1, 2}),
    ],
)
def test_a_replica_divides_a_machine_or_spans_whole_ones(
    gpus_per_node: int, cluster: bool, gpus: int, expected: set[int]
) -> None:
    found = engines(context("grpo", models={"policy": replace(MOE, heads=32)}), gpus_per_node, cluster, gpus)
    assert {tp for tp, ep in found if ep == 1} == expected
    assert {ep for tp, ep in found if tp == 1} == {size for size in expected if 32 % size == 0}


@pytest.mark.parametrize(
    ("roles", "layout", "cluster", "wrong"),
    [
        (["generate"], {"tp": 2}, False, True),
        (["generate"], {"tp": 1}, False, False),
        (["forward"], {"tp": 1, "ep": 2}, False, True),
        (["generate", "update"], {"tp": 2, "rollout_tp": 1}, True, False),
        (["generate", "update"], {"tp": 1, "rollout_tp": 2}, True, True),
        (["update"], {"tp": 1}, False, True),  # ten workers on two machines exchange gradients
        (["generate"], {"tp": 10}, True, False),
        (["generate"], {"tp": 10}, False, True),
    ],
)
def test_the_audit_finds_replicas_on_two_machines(
    roles: list[str], layout: dict[str, int], cluster: bool, wrong: bool
) -> None:
    problem = hand_problem()
    pool = plan_of(columns_of(problem), 0, problem).pools[0]
    five = {"gpus_per_node": 5, "nodes": 2, "gpus": 10, "roles": roles, "layout": LayoutChoice(**layout)}
    assert straddles(pool.model_copy(update=five), cluster) is wrong


def test_what_is_one_number_for_all_pools_takes_no_memory() -> None:
    ones, twos = spread(1.0, 3), spread(2.0, 2)
    some = Pools(*(np.arange(3.0) if field.name == "usd_per_hour" else ones for field in fields(Pools)))  # type: ignore[arg-type]
    other = Pools(*(np.arange(2.0) if field.name == "usd_per_hour" else ones[:2] for field in fields(Pools)))  # type: ignore[arg-type]
    whole = join_pools([some, other])
    assert whole.usd_per_hour.tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
    assert whole.disk_gb.tolist() == [1.0] * 5
    assert is_one(whole.disk_gb)
    assert not is_one(whole.usd_per_hour)
    mixed = join_pools([some, replace(other, disk_gb=twos)])
    assert mixed.disk_gb.tolist() == [1.0, 1.0, 1.0, 2.0, 2.0]
    assert whole.take(np.array([4, 0])).usd_per_hour.tolist() == [1.0, 0.0]
    rows = np.array([3, 1])
    assert whole.rate_of(rows).tolist() == whole.rate[rows].tolist()
