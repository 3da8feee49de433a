"""What a mounted store is provisioned with, and what that costs, by hand and from the catalogs' prices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt import api
from rlopt.facts import StorageSpeed
from rlopt.market.mounts import buy, cheapest, node_gb_s
from rlopt.problem.loading import Bought, Mount
from rlopt.studies.cheapest import cheapest as solve
from rlopt.units import HOURS_PER_MONTH
from tests.loading.test_options import SLOW, prepare, problem

SPEED = StorageSpeed(
    id="fs",
    included_mb_s=0.0,
    mb_s_per_gb=0.0,
    most_mb_s=None,
    most_mb_s_per_node=None,
    least_gb=0.0,
    step_gb=0.0,
    most_gb=None,
    price_mb_s_month=None,
    included_iops=0.0,
    iops_per_gb=0.0,
    price_iops_month=None,
    io_kb=0.0,
    currency="USD",
    as_of="2026-01-01",
    source="test",
)
PLAIN = Mount("fs", 0.001, None, 0.0, SPEED, "test", "2026-01-01")
SAMPLE = 100_000.0


def bought(speed: StorageSpeed, gb: float, mb_s: float, usd_mb_s: float | None = None, usd_iops: float = 0.0) -> Bought:
    found = buy(replace(PLAIN, usd_mb_s_hour=usd_mb_s, usd_iops_hour=usd_iops, speed=speed), gb, mb_s, SAMPLE)
    assert found is not None
    return found


def test_sizes_are_those_that_are_sold() -> None:
    sold = replace(SPEED, included_mb_s=100.0, least_gb=1000.0, step_gb=250.0)
    assert [bought(sold, gb, 64.0).gb for gb in (10.0, 1000.0, 1001.0, 1250.0)] == [1000.0, 1000.0, 1250.0, 1250.0]
    assert bought(sold, 1001.0, 64.0).usd_per_hour == pytest.approx(1.25)


def test_throughput_that_comes_with_size_makes_it_larger() -> None:
    grows = replace(SPEED, mb_s_per_gb=0.1, step_gb=500.0)
    found = bought(grows, 800.0, 128.0)
    assert (found.gb, found.mb_s, found.paid_mb_s) == (1500.0, 150.0, 0.0)
    assert bought(grows, 2000.0, 128.0).gb == 2000.0


def test_throughput_beyond_what_is_included_is_paid() -> None:
    paid = bought(replace(SPEED, included_mb_s=128.0), 100.0, 512.0, usd_mb_s=0.002)
    assert (paid.gb, paid.mb_s, paid.paid_mb_s) == (100.0, 512.0, 384.0)
    assert paid.usd_per_hour == pytest.approx(0.1 + 0.768)


def test_operations_beyond_what_is_included_are_paid() -> None:
    charged = replace(SPEED, included_mb_s=512.0, included_iops=3000.0, io_kb=256.0)
    # 512 MB/s in samples of 100 kB are 5120 operations a second; samples of 1 MB are read in operations of 256 kB
    assert bought(charged, 100.0, 512.0, usd_iops=0.00001).paid_iops == pytest.approx(2120.0)
    large = buy(replace(PLAIN, usd_iops_hour=0.00001, speed=charged), 100.0, 512.0, 1e6)
    assert large is not None
    assert large.paid_iops == 0.0


@pytest.mark.parametrize(
    "speed",
    [
        replace(SPEED, included_mb_s=100.0),
        replace(SPEED, included_mb_s=900.0, most_mb_s=400.0),
        replace(SPEED, mb_s_per_gb=0.1, most_gb=4000.0),
    ],
)
def test_what_cannot_be_had_is_not_sold(speed: StorageSpeed) -> None:
    assert buy(replace(PLAIN, speed=speed), 10.0, 512.0, SAMPLE) is None
    assert cheapest([replace(PLAIN, speed=speed)], 10.0, 512.0, SAMPLE) is None


def test_the_cheapest_is_taken() -> None:
    dear = replace(PLAIN, name="dear", usd_gb_hour=0.01, speed=replace(SPEED, included_mb_s=1000.0))
    grows = replace(PLAIN, name="grows", speed=replace(SPEED, mb_s_per_gb=0.1))
    names = [found.mount.name for mb_s in (64.0, 900.0) if (found := cheapest([dear, grows], 500.0, mb_s, SAMPLE))]
    assert names == ["grows", "dear"]


def test_a_file_system_by_hand() -> None:
    # FSx for OpenZFS, us-east-1: 0.09 USD per GB and month, 0.26 per MB/s beside it; 5 TB, a tenth of it kept free
    one = problem(
        "job.dataset_size=5TB", "job.dataset_samples=200000", "choices.data_store=[object, filesystem]", *SLOW
    )
    plan = solve(one, "pulp")
    assert plan.cost is not None
    assert plan.time is not None
    [line] = [line for line in plan.cost.lines if line.item == "mounted data set"]
    monthly = 5000 / 0.9 * 0.09 + 2048 * 0.26
    assert line.usd == pytest.approx(monthly / HOURS_PER_MONTH * plan.time.expected_hours)
    assert (line.dimension, line.kind) == ("storage", "fixed")
    used = [price for price in plan.provenance.prices if "openzfs" in price.offer]
    assert [(price.usd, price.unit) for price in used] == [
        (pytest.approx(0.09), "USD/GB/month"),
        (pytest.approx(0.26), "USD per MB/s and month"),
    ]
    assert all(price.source and price.as_of for price in used)
    assert "5556 GB x 0.09000 USD/GB/month + 2048 MB/s x 0.2600 USD/month" in line.basis


def test_a_volume_of_each_machine_by_hand() -> None:
    # gp3, us-east-1: 0.08 USD per GB and month; 125 MiB/s and 3000 operations a second included, each MiB/s more
    # is 0.04 and each operation 0.005
    one = problem("job.dataset_size=2TB", "job.dataset_samples=200000", "choices.data_store=[block]")
    plan = solve(one, "pulp")
    assert plan.cost is not None
    assert plan.time is not None
    assert plan.decisions is not None
    made = plan.decisions.load
    assert made is not None
    nodes = plan.pools[0].nodes
    assert (made.store, made.units, made.gb) == ("block", nodes, pytest.approx(2000 / 0.9 / nodes))
    wanted = max(made.mb_s / 0.262144 - 3000, 0.0)  # a sample of 10 MB is read in operations of 256 KiB
    monthly = nodes * (made.gb * 0.08 + max(made.mb_s - 131.072, 0.0) * 0.04 / 1.048576 + wanted * 0.005)
    [line] = [line for line in plan.cost.lines if line.item == "mounted data set"]
    assert line.usd == pytest.approx(monthly / HOURS_PER_MONTH * plan.time.expected_hours)


def test_a_slow_disk_is_enough_where_samples_are_small() -> None:
    # st1, us-east-1: 0.045 USD per GB and month, 40 MB/s for each TB of it; 512 samples of 1 MB in 8.7 s
    one = problem("job.dataset_size=2TB", "job.dataset_samples=2000000", "choices.data_store=[block]")
    plan = solve(one, "pulp")
    assert plan.cost is not None
    assert plan.time is not None
    assert plan.decisions is not None
    made = plan.decisions.load
    assert made is not None
    assert (made.mounted, made.stall_seconds) == ("aws/us-east-1/ebs/st1", 0.0)
    [line] = [line for line in plan.cost.lines if line.item == "mounted data set"]
    assert line.usd == pytest.approx(2000 / 0.9 * 0.045 / HOURS_PER_MONTH * plan.time.expected_hours)


def test_preparation_machines_by_hand() -> None:
    # c8g.16xlarge, us-east-1: 64 virtual CPUs at 2.55232 USD/h
    plan = solve(problem(prepare(10.0)), "pulp")
    assert plan.cost is not None
    assert plan.time is not None
    [line] = [line for line in plan.cost.lines if line.item == "data preparation"]
    assert (line.dimension, line.kind) == ("compute", "fixed")
    assert line.usd == pytest.approx(8 * 2.55232 * plan.time.failure_free_hours)
    [pool] = [pool for pool in plan.pools if pool.roles == ["load"]]
    assert (pool.name, pool.instance_type, pool.nodes) == ("data preparation", "c8g.16xlarge", 8)
    assert [price.usd_per_hour for price in plan.provenance.prices if price.offer == pool.offer] == [
        pytest.approx(2.55232)
    ]
    # 512 samples of 10 vCPU seconds on 512 virtual CPUs and a tenth of the 96 of p4de.24xlarge
    assert plan.time.stages[0].seconds == pytest.approx(512 * 10 / (512 + 9.6))


def test_a_file_system_bounds_what_is_saved_there() -> None:
    catalog = api.catalog()
    rates = {row.id: node_gb_s(row, catalog.speeds.get(row.id), 1.0) for row in catalog.storage}
    assert rates["aws/us-east-1/efs/standard"] == pytest.approx(0.524288)  # 500 MiB/s of one machine
    assert rates["gcp/us-central1/filestore/basic-hdd"] == pytest.approx(0.1048576)  # 100 MiB/s
    assert rates["aws/us-east-1/ebs/gp3"] == 0.125
    assert rates["aws/us-east-1/s3/standard"] == 1.0
