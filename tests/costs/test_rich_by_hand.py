"""Lines of the whole bill that the plain problem does not have, against arithmetic on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.answers.plan import Plan
from rlopt.costs.stored import kept_bytes as held
from rlopt.costs.stored.copies import kept_hours
from rlopt.problem import Problem
from rlopt.request import Request
from tests.costs.hand import columns_of
from tests.costs.rich import rich_problem, rich_request
from tests.costs.test_twins import plan_of

# columns: the first pool's two tiers of north, then spot, then south, each for dirty data first; then apart and async
NORTH_HOT, NORTH_COLD, SOUTH = 0, 1, 4
STEPS, SAVES = 36, 6


def find(problem: Problem, **wanted: int) -> int:
    """The first column with the wanted values."""
    columns = columns_of(problem)
    for j in range(len(columns)):
        if all(int(getattr(columns, name)[j]) == value for name, value in wanted.items()):
            return j
    raise AssertionError(wanted)


def plan_with(problem: Problem, **wanted: int) -> Plan:
    return plan_of(columns_of(problem), find(problem, **wanted), problem)


def usd(plan: Plan) -> dict[str, float]:
    """USD by ``dimension/item``."""
    assert plan.cost is not None
    found = {f"{line.dimension}/{line.item}": line.usd for line in plan.cost.lines}
    assert len(found) == len(plan.cost.lines)
    return found


def hours(plan: Plan) -> float:
    assert plan.time is not None
    return plan.time.expected_hours


def asked(key: str, value: object) -> Request:
    return rich_request().replaced(key, value)


def test_requests_of_copies() -> None:
    # 2 GPUs write 2 files a copy at 0.001 USD, 6 saves and 2 copies of history that stand in cold at 0.005 a file;
    # the best two copies of 20 GB stand in cold as well and one is read from there; 0.36 stops an hour read 2 files
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    files = 2
    stops = 0.36 * hours(plan)
    paid = files * (SAVES * 1e-3 + stops * 2e-4) + files * (2 * 5e-3 + 1e-3) + files * 2 * 5e-3
    assert usd(plan)["storage/requests"] == pytest.approx(2 * paid)
    assert kept_hours(rich_problem()) == 50


def test_versions_compression_duplicates_and_sharing() -> None:
    # 40 GB raw, half of it after compression, a fifth of that duplicates: 16 GB a version; the first whole and two
    # that differ in a quarter: 8 GB more, the raw data beside them; two projects pay half each. What no run reads
    # stands in cold, billed for 100 h at 0.0001
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["storage/dataset"] == pytest.approx(8 * 0.001 * (2 * hours(plan) + 10) / 0.8)
    assert usd(plan)["storage/earlier versions"] == pytest.approx(4 * 0.0001 * 100 / 0.8)
    assert usd(plan)["storage/data history"] == pytest.approx(20 * 0.0001 * 100 / 0.8)
    full = asked("job.data", rich_request().job.data.model_copy(update={"shared_by": 1}))
    full = full.replaced("job.data.versions.copies", "full").replaced("job.data.versions.raw_kept", False)
    plan = plan_with(rich_problem(full), zone=0, variant=0, tier=0)
    assert usd(plan)["storage/dataset"] == pytest.approx(16 * 0.001 * (2 * hours(plan) + 10) / 0.8)
    assert usd(plan)["storage/earlier versions"] == pytest.approx(32 * 0.0001 * 100 / 0.8)
    assert "storage/data history" not in usd(plan)


def test_the_data_set_is_brought_in_once_and_read_once_a_run() -> None:
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["network/data set from elsewhere"] == pytest.approx(16 * 0.02)
    assert "network/reads from the store" not in usd(plan)
    # 0.36 stops an hour read 100 GB at 0.02; best copy from cold at 0.03; data and 3 GB of log-probabilities from hot
    paid = 0.36 * hours(plan) * 100 * 0.02 + 20 * 0.03 + (16 + 3) * 0.02
    assert usd(plan)["storage/retrieval"] == pytest.approx(2 * paid)
    away = plan_with(rich_problem(), zone=1, variant=0)
    assert usd(away)["network/data set from elsewhere"] == pytest.approx(16 * 0.08)
    # the store is another provider's: the best copy, the data and the 6 GB of log-probabilities leave it at 0.07
    assert usd(away)["network/reads from the store"] == pytest.approx(2 * (20 + 16 + 6) * 0.07)
    assert usd(away)["network/reads after stops"] == pytest.approx(2 * 0.36 * hours(away) * 100 * 0.07)
    # and the log-probabilities go there at 0.05 in each run
    assert usd(away)["network/uploads to the store"] == pytest.approx(2 * 6 * 0.05)


def test_stored_log_probabilities_stand_as_long_as_a_run() -> None:
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["storage/stored log-probabilities"] == pytest.approx(2 * 3 * 0.001 * hours(plan) / 0.8)
    assert "storage/stored log-probabilities" not in usd(plan_with(rich_problem(), zone=0, variant=1, tier=0))


def test_trajectories_accrue_and_are_kept() -> None:
    # 16 x 8 x 36 trajectories of 30 stored frames; frames of 3 MB raw, half of that compressed, a fifth duplicates
    problem = rich_problem(acting=True)
    gb = 16 * 8 * 36 * 30 * 3e6 * 0.5 * 0.8 / 1e9
    plan = plan_with(problem, zone=0, variant=0, tier=0)
    assert usd(plan)["storage/trajectories"] == pytest.approx(2 * gb * 0.001 * (hours(plan) / 2 + 10) / 0.8)
    assert usd(plan)["network/trajectories to the trainer"] == 0
    away = plan_with(problem, zone=1, variant=0)
    gb = 16 * 16 * 18 * 30 * 3e6 * 0.5 * 0.8 / 1e9
    assert usd(away)["network/uploads to the store"] == pytest.approx(2 * (gb + 6) * 0.05)
    # each is a file that is written and read once, beside those of the copies
    copied = plan_with(rich_problem(), zone=1, variant=0)
    more = usd(away)["storage/requests"] - usd(copied)["storage/requests"]
    assert more == pytest.approx(2 * 16 * 16 * 18 * (4e-3 + 3e-4))


def test_frames_without_a_compression_ratio_take_their_encoded_size() -> None:
    data = rich_request().job.data.model_copy(update={"compression_ratio": 1.0, "duplicate_share": 0.0})
    # a million pixels at 0.1 byte
    assert held.trajectory_gb(rich_problem(asked("job.data", data), acting=True)) == pytest.approx(30 * 1e5 / 1e9)


def test_disks_and_those_that_are_left_behind() -> None:
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["storage/disks"] == pytest.approx(2 * 80 * 0.0002 * hours(plan) / 0.8)
    assert usd(plan)["storage/orphan volumes"] == pytest.approx(2 * 80 * 0.0002 * 12 / 0.8)
    # no price of disks in the south: nothing on the bill, and said so
    away = plan_with(rich_problem(), zone=1, variant=0)
    assert usd(away)["storage/disks"] == 0
    assert usd(away)["storage/orphan volumes"] == 0
    assert away.cost is not None
    told = {line.item: line.basis for line in away.cost.lines}
    assert "80 GB x 12.000 h: no price of block storage at south" in told["orphan volumes"]
    assert any("south lists no block storage: 80 GB" in text for text in away.warnings)


def test_the_volumes_that_cpu_machines_boot_from() -> None:
    north, south = rich_problem().tariffs
    assert north.control is not None
    booting = replace(north, control=replace(north.control, boot_gb=30.0))
    plan = plan_with(rich_problem(tariffs=(booting, south)), zone=0, variant=0, tier=0)
    # 80 GB of the pool and 30 of the head node
    assert usd(plan)["storage/disks"] == pytest.approx(2 * 110 * 0.0002 * hours(plan) / 0.8)
    assert usd(plan)["storage/orphan volumes"] == pytest.approx(2 * 110 * 0.0002 * 12 / 0.8)
    assert [pool.disk_gb for pool in plan.pools] == [80.0, 30.0]
    assert plan.cost is not None
    basis = next(line.basis for line in plan.cost.lines if line.item == "disks")
    assert basis.startswith("disk: 110 GB x ")
    assert basis.endswith("; 2 machines, each boots from 30 GiB of it")


def test_a_price_of_another_region_stands_in_the_basis() -> None:
    north, south = rich_problem().tariffs
    assert north.disk is not None
    assert north.cache is not None
    assert north.metering is not None
    away = replace(
        north,
        tiers=tuple(replace(tier, note="of n8") for tier in north.tiers),
        disk=replace(north.disk, note="of n7"),
        cache=replace(north.cache, note="of n6"),
        metering=replace(north.metering, note="of n5"),
        log_note="of n4",
    )
    plan = plan_with(rich_problem(tariffs=(away, south)), zone=0, variant=0, tier=0)
    assert plan.cost is not None
    told = {line.item: line.basis[-6:] for line in plan.cost.lines if line.basis[-5:-2] == "of "}
    copies = {f"{role} checkpoints": "; of n8" for role in ("recent", "best", "history")}
    volumes = dict.fromkeys(("disks", "orphan volumes"), "; of n7")
    logs = {"text log": "; of n4", "abnormal samples": "; of n4", "debugged steps": "; of n4"}
    series = dict.fromkeys(("metrics", "hardware metrics"), "; of n5")
    held_data = ("dataset", "earlier versions", "data history", "base weights", "stored log-probabilities")
    data = dict.fromkeys(held_data, "; of n8")
    assert told == {k: v[-6:] for k, v in (copies | volumes | logs | series | data | {"fast store": "; of n6"}).items()}


def test_the_fast_store() -> None:
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["cache/fast store"] == pytest.approx(2 * 0.4 * hours(plan))
    basis = next(line.basis for line in plan.cost.lines if line.dimension == "cache") if plan.cost else ""
    assert "replay buffer 27.94 GiB, index 3.725 GiB" in basis
    nothing = rich_problem(
        asked("job.cache", None), tariffs=tuple(replace(t, cache=None) for t in rich_problem().tariffs)
    )
    assert "cache/fast store" not in usd(plan_with(nothing, zone=0, variant=0, tier=0))


def test_metrics_by_series_and_hour() -> None:
    # 10 + 3 + 2 x 4 series of the trainer, 2 of each of 2 GPUs, at 0.0005 USD an hour
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert usd(plan)["logging/metrics"] == pytest.approx(2 * 21 * hours(plan) * 0.0005)
    assert usd(plan)["logging/hardware metrics"] == pytest.approx(2 * 4 * hours(plan) * 0.0005)


def test_metrics_by_size_with_fewer_points_later() -> None:
    # a point every second of 18 steps, half of them in the second half: 21 x 9 x 0.75 points of 100 bytes; 2 USD/GB in,
    # 0.001 USD/GB/h for half the run and the 20 of 720 h beyond the free 700
    plan = plan_with(rich_problem(), zone=1, variant=0)
    price = 2.0 + 0.001 * (hours(plan) / 2 + 20)
    trainer, hardware = 21 * 9 * 0.75 * 100 / 1e9, 2 * 4 * hours(plan) * 60 * 100 / 1e9
    assert usd(plan)["logging/metrics"] == pytest.approx(2 * trainer * price)
    assert usd(plan)["logging/hardware metrics"] == pytest.approx(2 * hardware * price)
    basis = next(line.basis for line in plan.cost.lines if line.item == "metrics") if plan.cost else ""
    assert "(a point at one in 2 of 18 steps, 0.75 of the points kept)" in basis
    # metrics and text leave for another provider's service at 0.12 USD/GB
    text = 16 * 16 * 500 * 4 / 1e9 * (18 * (0.5 + 0.5 * 0.1) + 6 * 0.5 * 0.9 * 0.8)
    out = 2 * 0.12 * (trainer + hardware + text)
    assert usd(plan)["network/logs out of the cloud"] == pytest.approx(out)


def test_text_of_abnormal_samples_and_debugged_steps() -> None:
    # half of all samples are logged anyway; a tenth is abnormal and kept, half of it not logged yet
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    gb, price = 2 * 16 * 8 * 500 * 4 / 1e9, 0.5 + 0.0001 * (hours(plan) / 2 + 20)
    assert usd(plan)["logging/text log"] == pytest.approx(gb * 36 * 0.5 * price)
    assert usd(plan)["logging/abnormal samples"] == pytest.approx(gb * 36 * 0.5 * 0.1 * price)
    # 6 steps debugged, 80 % of what is not logged yet, kept for 20 h: within the free 700
    assert usd(plan)["logging/debugged steps"] == pytest.approx(gb * 6 * 0.5 * 0.9 * 0.8 * 0.5)


def test_machines_are_released_the_cheaper_way() -> None:
    # 10.5 USD/h in two runs: half an hour by hand is 10.5 USD, a tenth by the script 2.1 and 3 to set it up
    plan = plan_with(rich_problem(), zone=0, variant=0, tier=0)
    assert plan.decisions is not None
    assert plan.decisions.operations == {"release": "automatic"}
    assert usd(plan)["operations/idle before release"] == pytest.approx(2 * 0.1 * 10.5)
    assert usd(plan)["operations/setup of the release"] == pytest.approx(0.05 * 60)
    # an hour of setting up costs more than it saves
    dear = asked("costs.idle.automatic.setup_hours", 1.0)
    plan = plan_with(rich_problem(dear), zone=0, variant=0, tier=0)
    assert plan.decisions is not None
    assert plan.decisions.operations == {"release": "by hand"}
    assert usd(plan)["operations/idle before release"] == pytest.approx(2 * 0.5 * 10.5)
    assert "operations/setup of the release" not in usd(plan)
    never = asked("costs.idle.automatic", None)
    plan = plan_with(rich_problem(never), zone=0, variant=0, tier=0)
    assert plan.decisions is not None
    assert plan.decisions.operations is None


def test_labels_and_cleaning() -> None:
    dirty = usd(plan_with(rich_problem(), zone=0, variant=0, tier=0))
    assert dirty["data/labels"] == pytest.approx(1000 * 0.05)
    assert "data/cleaning" not in dirty
    assert usd(plan_with(rich_problem(), zone=0, variant=1, tier=0))["data/cleaning"] == pytest.approx(5000 * 0.01)
    new = rich_problem(asked("job.data.incremental", True))
    assert usd(plan_with(new, zone=0, variant=1, tier=0))["data/cleaning"] == pytest.approx(1000 * 0.01)
    # without a size of the data set each of 26 steps brings 16 new prompts
    unknown = rich_problem(asked("job.dataset_samples", None))
    assert usd(plan_with(unknown, zone=0, variant=1, tier=0))["data/cleaning"] == pytest.approx(26 * 16 * 0.01)
    clean = rich_problem(asked("job.data.cleaned", True))
    assert "data/cleaning" not in usd(plan_with(clean, zone=0, variant=1, tier=0))


def test_kinds() -> None:
    plan = plan_with(rich_problem(acting=True), zone=0, variant=1, tier=0)
    assert plan.cost is not None
    kinds = {f"{line.dimension}/{line.item}": line.kind for line in plan.cost.lines}
    fixed = {name for name, kind in kinds.items() if kind == "fixed"}
    hidden = {name for name, kind in kinds.items() if kind == "hidden"}
    assert fixed == {
        "compute/pool control", "storage/dataset", "storage/earlier versions", "storage/data history",
        "storage/base weights", "network/data set from elsewhere",
        "network/base weights from the hub", "network/final weights", "data/labels", "data/cleaning",
    }  # fmt: skip
    assert hidden == {
        "compute/tuning trials", "storage/orphan volumes", "operations/loss to failures",
        "operations/idle before release", "operations/setup of the release", "operations/setup", "operations/on call",
    }  # fmt: skip
