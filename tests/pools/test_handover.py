"""Seconds that a machine's link adds to the hand-over of weights, by hand and in the pools."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from rlopt import api
from rlopt.estimates import sync_seconds
from rlopt.facts.files.folder import load_catalog
from rlopt.pools.context import Context
from rlopt.pools.handover import handover_seconds, link_gb_s
from rlopt.problem import Pools, Problem, Topology
from rlopt.words import ASYNC, DISAGGREGATED
from tests.pools.parts import context

EXAMPLE = next((Path(__file__).parents[2] / "examples" / "requests").glob("07-*.yaml"))


def linked(gbps: float | None) -> Context:
    """One machine of eight GPUs whose link is ``gbps``."""
    found = context("grpo")
    market = replace(found.market, topologies=(Topology("H100-SXM", 8, "nvswitch", gbps, gbps is not None),))
    per_gpu = np.full(1, (gbps or 0.0) / 8 / 8)
    return replace(found, market=market, hardware=replace(found.hardware, node_gb_s=per_gpu))


def test_a_link_slower_than_the_software_sets_the_rate() -> None:
    moved = 2.0 * float(linked(None).moved.params)
    calibration = linked(None).calibration
    fixed = float(sync_seconds(0.0, "async", calibration))
    software = (float(sync_seconds(moved, "async", calibration)) - fixed) / (moved / 1e9)  # seconds per GB
    assert 1 / software > 50.0
    for gbps, rate in ((None, 10 / 8), (100.0, 12.5), (400.0, 50.0)):
        assert link_gb_s(linked(gbps)) == pytest.approx([rate])
        assert handover_seconds(linked(gbps)) == pytest.approx([moved / 1e9 * (1 / rate - software)])
    assert handover_seconds(linked(3200.0)) == pytest.approx([0.0])
    assert load_catalog().nodes.machine_network_gbps == 10.0


@lru_cache(maxsize=2)
def problem(known: bool) -> Problem:
    """A job on machines that are alike but for what is known of their network."""
    request, catalog = api.load(EXAMPLE), api.catalog()
    offers = [
        replace(offer, shape=replace(offer.shape, cluster="yes" if known else "no", internode_gbps=3200.0))
        for offer in catalog.offers
        if offer.shape.gpus == 8
    ]
    return api.problem_of(request, replace(catalog, offers=tuple(offers)))


def test_separate_pools_without_a_network_take_longer_and_colocated_ones_do_not() -> None:
    quick, slow = problem(True), problem(False)
    added = float(handover_seconds(slow.estimates.context)[0])  # type: ignore[attr-defined]
    assert added > 1.0

    def least(pools: Pools, placement: int = DISAGGREGATED) -> float:
        return float(pools.times.at(placement).median[pools.nodes == 1].min())

    assert least(slow.training) == pytest.approx(least(quick.training) + added)
    assert least(slow.rollout) == pytest.approx(least(quick.rollout) + added)
    assert least(slow.rollout, ASYNC) == pytest.approx(least(quick.rollout, ASYNC) + added)
    assert least(slow.colocated) == pytest.approx(least(quick.colocated))
    assert any("machine network 10 Gb/s" in text for text in slow.warnings)


def test_a_plan_says_which_pool_waits_for_its_link() -> None:
    slow = problem(False)
    added = float(handover_seconds(slow.estimates.context)[0])  # type: ignore[attr-defined]
    row = int(slow.rollout.estimate[0])
    for detail in (
        slow.estimates.training_detail(int(slow.training.estimate[0])),
        slow.estimates.rollout_detail(row, True),
    ):
        last = detail.stages[-1]
        assert (last.stage, last.seconds) == ("transfer", pytest.approx(added))
    stages = slow.estimates.rollout_detail(row, False).stages
    whole = sum(stage.seconds for stage in stages if stage.stage != "environment")
    assert whole == pytest.approx(float(slow.rollout.times.in_step.median[0]))
    quick = problem(True).estimates.rollout_detail(0, False)
    assert "transfer" not in {stage.stage for stage in quick.stages}
