"""Backups of the data set and what incremental training keeps, against arithmetic on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlopt.answers.plan import Plan
from rlopt.costs.stored.backups import CHANGES, WHOLE, backups
from rlopt.errors import InputError
from rlopt.problem import Problem
from rlopt.problem.tariff import TierTable
from rlopt.reading.request_file import read_request
from rlopt.request.job.data_life import Backup
from tests.costs.hand import HOT
from tests.costs.rich import rich_problem, rich_request
from tests.costs.test_rich_by_hand import hours, plan_with, usd

HOUR = 3600.0
GB = 8.0
"""A version takes 16 GB, and two projects share it."""


def backed_up(**backup: Any) -> tuple[Plan, Problem]:
    """The rich plan in the hot tier alone, its data kept for 100 h after two runs."""
    data = rich_request().job.data.model_copy(update={"backup": Backup(**backup)} if backup else {})
    request = rich_request().replaced("job.data", data).replaced("costs.keep_for.dataset", 100 * HOUR)
    base = rich_problem(request)
    tariffs = (replace(base.tariffs[0], tiers=(HOT,)), base.tariffs[1])
    problem = replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))
    return plan_with(problem, zone=0, variant=0, tier=0), problem


def test_whole_copies_stand_side_by_side() -> None:
    plan, _ = backed_up(mode="full", every=HOUR, copies=2)
    used = 2 * hours(plan)
    assert 2 < used < 4
    # one from the start on, another after an hour, each kept 100 h beyond the runs; later ones take their place
    assert usd(plan)["storage/backups"] == pytest.approx(GB * 0.001 * ((used + 100) + (used + 99)) / 0.8)
    without, _ = backed_up()
    # each backup reads the data set once, at 0.02 USD/GB
    made = int(used) + 1
    more = usd(plan)["storage/retrieval"] - usd(without)["storage/retrieval"]
    assert more == pytest.approx(made * GB * 0.02)
    assert "storage/backups" not in usd(without)


def test_of_incremental_backups_one_is_whole() -> None:
    plan, _ = backed_up(mode="incremental", every=HOUR, copies=3, changed_share=0.25)
    used = 2 * hours(plan)
    made = int(used) + 1
    assert made >= 3
    assert usd(plan)["storage/backups"] == pytest.approx(GB * 0.001 * (used + 100) / 0.8)
    assert usd(plan)["storage/backup changes"] == pytest.approx(2 * 0.001 * ((used + 99) + (used + 98)) / 0.8)
    without, _ = backed_up()
    more = usd(plan)["storage/retrieval"] - usd(without)["storage/retrieval"]
    assert more == pytest.approx((GB + (made - 1) * 2) * 0.02)
    # bought at the peak: one whole copy and two changes, however many were written
    assert plan.storage_gib is not None
    assert without.storage_gib is not None
    assert plan.storage_gib - without.storage_gib == pytest.approx((GB + 2 * 2) * 1e9 / 2**30 / 0.8)


def test_versioning_copies_and_reads_nothing() -> None:
    plan, _ = backed_up(mode="versioning", every=HOUR, copies=1, changed_share=0.25)
    used = 2 * hours(plan)
    assert usd(plan)["storage/backup changes"] == pytest.approx(2 * 0.001 * (used + 99) / 0.8)
    assert "storage/backups" not in usd(plan)
    assert usd(plan)["storage/retrieval"] == pytest.approx(usd(backed_up()[0])["storage/retrieval"])


def test_a_minimum_duration_counts_for_each_copy_that_is_written() -> None:
    base, problem = backed_up(mode="full", every=HOUR, copies=1)
    stay = backups(problem, 3.5, 0.0)[WHOLE]
    # four copies, one at a time, 3.5 h in all: a tier that bills 30 h at least bills 120
    assert (stay.gb + stay.brief_gb, stay.gb) == pytest.approx((4 * GB, GB))
    assert float(np.asarray(stay.gb_hours(0.0))) == pytest.approx(3.5 * GB)
    assert float(np.asarray(stay.gb_hours(30.0))) == pytest.approx(4 * GB * 30)
    few = backups(backed_up(mode="versioning", every=9 * HOUR, changed_share=0.5)[1], 3.5, 0.0)[CHANGES]
    assert (float(few.gb), float(few.hours)) == (0.0, 0.0)
    assert base.cost is not None


@pytest.mark.parametrize("least", [0.0, 30.0, 900.0, 9000.0])
def test_long_lives_of_the_last_copies_do_not_hide_short_ones(least: float) -> None:
    _, problem = backed_up(mode="full", every=24 * HOUR, copies=2)
    used, kept = 250.0, 8760.0
    made = [24.0 * k for k in range(11)]
    gone = [made[k + 2] if k + 2 < len(made) else used + kept for k in range(11)]
    wanted = sum(GB * max(end - start, least) for start, end in zip(made, gone, strict=True))
    found = backups(problem, used, kept)[WHOLE]
    assert float(np.asarray(found.gb_hours(least))) == pytest.approx(wanted)


def test_less_changed_and_fewer_copies_are_never_dearer() -> None:
    full = usd(backed_up(mode="full", every=HOUR, copies=3)[0])
    part = usd(backed_up(mode="incremental", every=HOUR, copies=3, changed_share=0.2)[0])
    store = usd(backed_up(mode="versioning", every=HOUR, copies=2, changed_share=0.2)[0])

    def storage(found: dict[str, float]) -> float:
        return sum(amount for item, amount in found.items() if item.startswith("storage/"))

    assert storage(store) < storage(part) < storage(full)


def test_incremental_training_keeps_weights_and_added_samples() -> None:
    data = rich_request().job.data.model_copy(update={"incremental": True, "versions_kept": 3})
    problem = rich_problem(rich_request().replaced("job.data", data))
    tariffs = (replace(problem.tariffs[0], tiers=(HOT,)), problem.tariffs[1])
    plan = plan_with(replace(problem, tariffs=tariffs, tiers=TierTable.of(tariffs)), zone=0, variant=0, tier=0)
    span = 2 * hours(plan) + 10
    assert usd(plan)["storage/earlier weights"] == pytest.approx(3 * 20 * 0.001 * span / 0.8)
    # 1000 of 5000 samples are new: a fifth of the 8 GB that this project pays
    assert usd(plan)["storage/earlier samples"] == pytest.approx(3 * GB / 5 * 0.001 * span / 0.8)


@pytest.mark.parametrize(
    ("data", "key", "fix"),
    [
        ({"backup": {"mode": "full"}}, "job.data.backup.every", "add every: 24h"),
        ({"backup": {"mode": "incremental", "every": "1h"}}, "job.data.backup.changed_share", "changed_share: 0.05"),
        ({"backup": {"mode": "weekly", "every": "1h"}}, "job.data.backup.mode", "full"),
        ({"versions_kept": 2}, "job.data.versions_kept", "add incremental: true"),
    ],
)
def test_what_does_not_say_enough_is_refused(data: dict[str, Any], key: str, fix: str) -> None:
    written = {
        "version": 1,
        "job": {
            "algorithm": "sft", "models": {"policy": "Qwen/Qwen2.5-0.5B"}, "prompts_per_step": 8, "steps": 4,
            "prompt_tokens": {"mean": 100, "max": 200}, "response_tokens": {"mean": 300, "max": 900}, "data": data,
        },
    }  # fmt: skip
    with pytest.raises(InputError) as told:
        read_request(written)
    assert f"{key}:" in str(told.value)
    assert fix in str(told.value)
