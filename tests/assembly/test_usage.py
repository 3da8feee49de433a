"""Usage of real plans against arithmetic by hand: tokens, useful FLOPs, bytes, dollars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.answers.usage import Usage
from tests.studies.small import LARGE, asked

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DAY = 86400.0
PETA = 1e15
SMALL = 1543714304.0
"""Qwen2.5-1.5B: all weights, its one table of 151936 x 1536 being the output matrix; all of them multiply."""
REWARD = 7615616512.0 - 2 * 152064 * 3584 + 3584
"""Qwen2.5-7B without its two tables, and one row that puts out a score."""
ONE = {"gpus": ["H100"], "placements": ["colocated"]}


def _solved(request: Any) -> tuple[Plan, Usage]:
    plan = api.solve(request, short_frontier=False)
    assert plan.usage is not None
    return plan, plan.usage


def _compute(plan: Plan) -> float:
    assert plan.cost is not None
    return sum(line.usd for line in plan.cost.lines if line.dimension == "compute")


def test_fine_tuning_by_hand() -> None:
    plan, usage = _solved(asked("sft", choices=ONE, job={"remedial_share": 0.25}))
    read = 64 * 1.25 * (100 + 300) * 100
    useful = 6 * SMALL * read / PETA / DAY
    assert usage.training_tokens == {"policy": pytest.approx(read)}
    assert usage.useful_pflop_days == pytest.approx(useful, rel=1e-6)
    assert plan.cost is not None
    assert usage.compute_usd_per_pflop_day == pytest.approx(_compute(plan) / useful, rel=1e-6)
    assert usage.usd_per_pflop_day == pytest.approx(plan.cost.total_usd / useful, rel=1e-6)
    assert usage.usd_per_million_training_tokens == pytest.approx(plan.cost.total_usd / (read / 1e6))
    nothing = (usage.prompt_tokens, usage.response_tokens, usage.seconds_per_1000_tokens, usage.handover_gb)
    assert nothing == (None, None, None, None)


def test_adapters_take_four_of_six_parts() -> None:
    _, usage = _solved(asked("sft", choices=ONE, job={"trainable": {"lora_rank": 16}}))
    assert usage.useful_pflop_days == pytest.approx(4 * SMALL * 64 * 400 * 100 / PETA / DAY, rel=1e-6)


@pytest.mark.parametrize("scored", ["recompute", "stored"])
def test_pairs_by_hand(scored: str) -> None:
    models = {"reference": "Qwen/Qwen2.5-1.5B"}
    _, usage = _solved(asked("dpo", models, choices=ONE | {"log_probs": [scored]}))
    read = 2 * 64 * 400 * 100
    assert usage.training_tokens == {"policy": read}
    # the reference reads every pair once, in each step or before the first
    assert usage.useful_pflop_days == pytest.approx((6 + 2) * SMALL * read / PETA / DAY, rel=1e-6)


def test_sampling_in_groups_by_hand() -> None:
    job = {"ppo_epochs": 2, "filter": {"drop": 0.25}, "cache_hit_rate": 0.2, "trials": 3}
    plan, usage = _solved(asked("grpo", choices=ONE | {"log_probs": ["recompute"]}, job=job))
    samples = 64 * 4 * 100
    assert usage.prompt_tokens == pytest.approx(samples * 0.8 * 100)
    assert usage.response_tokens == pytest.approx(samples * 0.8 * 300)
    assert usage.training_tokens == {"policy": pytest.approx(samples * 0.75 * 400 * 2)}
    sampling = 2 * SMALL * samples * 0.8 * (100 / 4 + 300)  # one prompt is read once for its four samples
    scoring = 2 * (SMALL + SMALL + REWARD) * samples * 400  # policy, its reference and the reward model
    updating = 6 * SMALL * samples * 0.75 * 400 * 2
    useful = (sampling + scoring + updating) / PETA / DAY
    assert usage.useful_pflop_days == pytest.approx(useful, rel=1e-6)
    assert usage.compute_usd_per_pflop_day == pytest.approx(_compute(plan) / 3 / useful, rel=1e-6)
    assert usage.handover_gb_per_step == pytest.approx(2 * SMALL / 1e9)
    assert usage.handover_gb == pytest.approx(2 * SMALL / 1e9 * 100)
    assert plan.time is not None
    seconds = next(stage.seconds for stage in plan.time.stages if stage.stage == "generate")
    assert usage.seconds_per_1000_tokens == pytest.approx(seconds / (64 * 4 * 0.8 * 300 / 1000))


def test_a_policy_that_acts_by_hand() -> None:
    plan, usage = _solved(api.load(EXAMPLES / "vla-simulator.yaml"))
    inferences, seen = 128 * 40 * 40, 40 + 2 * 64
    assert usage.prompt_tokens == pytest.approx(inferences * seen)
    assert usage.response_tokens == pytest.approx(inferences * 25)
    kept = inferences * 0.6
    trained = {"policy": kept * seen, "action": kept * 25, "value": kept * seen}
    assert usage.training_tokens == pytest.approx(trained)
    backbone, expert = 3.88e9 - 262144 * 2560, 0.86e9
    value = 0.666e9 - 262144 * 896 + 201 * 896
    acting = 2 * inferences * (seen * backbone + 25 * 5 * expert)
    learning = 2 * backbone * trained["policy"] + 6 * expert * trained["action"] + 6 * value * trained["value"]
    scoring = 2 * value * inferences * seen
    assert usage.useful_pflop_days == pytest.approx((acting + learning + scoring) / PETA / DAY, rel=1e-6)
    # the frozen backbone is never handed over; the value model is where it screens on a pool of its own
    screens = any(stage.stage == "screening" for stage in plan.time.stages) if plan.time else False
    sent = 2 * (expert + (value + 262144 * 896 if screens else 0.0)) / 1e9
    assert usage.handover_gb_per_step == pytest.approx(sent, rel=1e-6)


def test_storage_grows_by_what_is_kept_of_each_day() -> None:
    plan, usage = _solved(
        asked("grpo", choices=ONE, floors={"text_log_rate": 0.5, "checkpoints": {"history_every": 20}})
    )
    assert plan.time is not None
    days = plan.time.expected_hours / 24
    assert usage.storage_growth_gb_per_day["history copies"] == pytest.approx(5 * 2 * SMALL / 1e9 / days)
    text = 0.5 * 64 * 4 * 100 * 400 * api.load(EXAMPLES / "quickstart.yaml").costs.bytes_per_token / 1e9
    assert usage.storage_growth_gb_per_day["text log"] == pytest.approx(text / days)


def test_every_pool_that_samples_gets_a_copy() -> None:
    request = asked("grpo", {"reward": LARGE}, choices={"placements": ["disaggregated"]}, limits={"max_gpus": 16})
    plan, usage = _solved(request)
    pools = sum("generate" in pool.roles for pool in plan.pools)
    assert usage.handover_gb_per_step == pytest.approx(pools * 2 * SMALL / 1e9)


def test_texts_that_are_files_grow_as_they_are_stored() -> None:
    """Squeezed to a quarter where that pays; the run's own texts, not those of all trials."""
    squeeze = {"logs": {"ratio": 0.25, "vcpu_seconds_per_gib": 0.001}}
    job = {"text_log": {"kept_in": "store"}, "trials": 2}
    plain, small = (
        _solved(asked("grpo", choices=ONE, job=job | more, floors={"text_log_rate": 1.0}))
        for more in ({}, {"compression": squeeze})
    )
    assert plain[0].time is not None
    assert small[0].decisions is not None
    text = 64 * 4 * 100 * 400 * api.load(EXAMPLES / "quickstart.yaml").costs.bytes_per_token / 1e9
    days = plain[0].time.expected_hours / 24
    assert plain[1].storage_growth_gb_per_day["text log"] == pytest.approx(text / days)
    squeezed = {kept.item for kept in small[0].decisions.storage if kept.compressed}
    assert squeezed == {"text log"}
    assert small[1].storage_growth_gb_per_day["text log"] == pytest.approx(text / days / 4, rel=1e-3)


def test_what_is_done_before_the_job_is_in_neither_part() -> None:
    path = next((EXAMPLES / "requests").glob("04-*.yaml"))
    plan, usage = _solved(api.load(path, ("job.pairs={candidates: 4, judge: Qwen/Qwen2.5-7B-Instruct}",)))
    assert plan.cost is not None
    before = sum(phase.usd / phase.runs for phase in plan.phases)
    assert before > 0
    assert usage.usd_per_pflop_day == pytest.approx((plan.cost.total_usd - before) / usage.useful_pflop_days)
    assert usage.compute_usd_per_pflop_day == pytest.approx((_compute(plan) - before) / usage.useful_pflop_days)
