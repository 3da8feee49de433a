"""Nothing of a plan is dropped: each decision and degree is written, or stands among what could not be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.plan import CheckpointDecision, Decisions, LayoutChoice, Plan, Pool
from rlopt.errors import NotSupportedError
from rlopt.launchers.exports import LAUNCHERS, Run, needs
from rlopt.launchers.exports.gaps import common_gaps
from rlopt.request import Request
from rlopt.request.job.trainable import Trainable

WRITTEN = "by the launchers' own files"
SAID = "exporters.launchers.gaps, for every launcher"
DECISIONS = {
    "placement": WRITTEN,
    "group_size": WRITTEN,
    "precision": "update and rollout by the files, score in gaps",
    "staleness": WRITTEN,
    "checkpoint": "interval and copies by the files, tiers, moves and compression in gaps",
    "logging": SAID,
    "data": "log_probs by the files, cleaning in gaps",
    "models": WRITTEN,
    "kernels": WRITTEN,
    "scoring": SAID,
    "environment": "the tools by the files, instances in gaps",
    "storage": SAID,
    "load": SAID,
    "operations": SAID,
    "action_head": SAID,
    "screening": SAID,
    "recovery": SAID,
}
DEGREES = {*("tp", "pp", "vp", "dp", "cp", "ep", "etp"), *("sequence_parallel", "sharding", "micro_batch")} | {
    *("recompute", "offload", "rollout_tp", "rollout_ep")
}


@pytest.fixture(scope="module")
def quickstart(root: Path) -> Run:
    request = api.load(root / "examples" / "quickstart.yaml")
    return Run(api.solve(request, short_frontier=False), request, {}, {})


def test_a_new_decision_needs_a_place_in_the_exports() -> None:
    assert set(Decisions.model_fields) == set(DECISIONS)
    assert set(LayoutChoice.model_fields) == DEGREES
    assert set(CheckpointDecision.model_fields) == {
        "interval_steps",
        "tiers",
        "recovery_minutes",
        "compressed",
        "moves",
    }


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"scoring": {"on": "cpu", "processes": 8}}, "8 processes on CPUs"),
        ({"operations": {"release": "automatic"}}, "given back (automatic)"),
        ({"action_head": "flow"}, "acts by flow"),
        ({"screening": {"seconds": 1.0}}, "screened"),
        ({"recovery": {"spare_nodes": 2, "rollouts_every": 500}}, "2 spare machines"),
        ({"data": {"cleaned": True}}, "cleaned first"),
    ],
)
def test_a_decision_without_a_key_is_said(quickstart: Run, changed: dict[str, object], word: str) -> None:
    decisions = quickstart.made.model_copy(update=changed)
    run = Run(quickstart.plan.model_copy(update={"decisions": decisions}), quickstart.request, {}, {})
    before, after = common_gaps(quickstart), common_gaps(run)
    assert not any(word in str(gap) for gap in before)
    assert any(word in str(gap) for gap in after)


def test_pricing_precision_and_compression_are_said(quickstart: Run) -> None:
    pools = [pool.model_copy(update={"pricing": "reserved"}) for pool in quickstart.plan.pools]
    saved = quickstart.made.checkpoint.model_copy(update={"compressed": True})
    precision = quickstart.made.precision.model_copy(update={"score": "fp8"})
    decisions = quickstart.made.model_copy(update={"checkpoint": saved, "precision": precision})
    plan = quickstart.plan.model_copy(update={"pools": pools, "decisions": decisions})
    text = "\n".join(str(gap) for gap in common_gaps(Run(plan, quickstart.request, {}, {})))
    for word in ("pool train is reserved", "compressed before upload", "scoring passes run in fp8"):
        assert word in text


def layout(run: Run, **degrees: object) -> Run:
    """The same run with another layout of the trainer, on as many GPUs as it takes."""
    trainer = run.trainer
    made = run.layout.model_copy(update=degrees)
    gpus = (made.tp or 1) * (made.pp or 1) * (made.cp or 1) * (made.dp or 1)
    pool = trainer.model_copy(update={"layout": made, "gpus": gpus, "gpus_per_node": gpus})
    return Run(_with(run.plan, trainer, pool), run.request, run.models, run.card_gib)


def _with(plan: Plan, old: Pool, new: Pool) -> Plan:
    return plan.model_copy(update={"pools": [new if pool is old else pool for pool in plan.pools]})


@pytest.mark.parametrize("name", ["openrlhf", "trl"])
def test_a_pipeline_that_a_launcher_lacks_is_said_to_change_the_plan(quickstart: Run, name: str) -> None:
    made = LAUNCHERS[name].export(layout(quickstart, pp=4, dp=2), smoke=False)
    said = [gap for gap in made.gaps if "pp 4" in str(gap)]
    assert [gap.shifts for gap in said] == [True]


@pytest.mark.parametrize(
    ("name", "key"), [("verl", "pipeline_model_parallel_size=4"), ("nemo-rl", "pipeline_model_parallel_size=4")]
)
def test_a_pipeline_that_a_launcher_has_is_written(quickstart: Run, name: str, key: str) -> None:
    made = LAUNCHERS[name].export(layout(quickstart, pp=4, dp=2), smoke=False)
    assert key in made.files["launch.sh"]
    assert not any("pp 4" in str(gap) for gap in made.gaps)


@pytest.mark.parametrize(
    ("offload", "sharding", "written"),
    [
        ("none", "zero3", "actor.fsdp_config.offload_policy=false"),
        ("optimizer", "zero3", "actor.fsdp_config.offload_policy=true"),
        ("optimizer", "zero1", "override_optimizer_config.optimizer_cpu_offload=true"),
        ("parameters", "zero3", "actor.fsdp_config.param_offload=true"),
    ],
)
def test_offloading_lowers_the_peak_of_an_update(quickstart: Run, offload: str, sharding: str, written: str) -> None:
    made = LAUNCHERS["verl"].export(layout(quickstart, dp=8, offload=offload, sharding=sharding), smoke=False)
    assert written in made.files["launch.sh"]


def test_who_has_no_trainer_names_who_has() -> None:
    with pytest.raises(
        NotSupportedError, match=r"verl has no trainer for dpo; export to openrlhf or trl or nemo-rl \(skypilot"
    ):
        needs("verl", "dpo")
    with pytest.raises(NotSupportedError, match="trl has no trainer for vla; no launcher known here has one"):
        needs("trl", "vla")
    assert [name for name, one in LAUNCHERS.items() if "vla" in one.ALGORITHMS] == ["skypilot"]


def test_a_request_that_says_more_has_more_to_say(quickstart: Run) -> None:
    request: Request = quickstart.request.replaced("job.cache_hit_rate", 0.25).replaced("job.trials", 3)
    text = "\n".join(str(gap) for gap in common_gaps(Run(quickstart.plan, request, {}, {})))
    assert "25% of the samples are reused" in text
    assert "3 trials" in text


def test_frozen_parts_without_a_key_are_said(quickstart: Run) -> None:
    trainable = Trainable(kind="frozen", frozen=("vision", "embeddings"))
    job = quickstart.request.job.model_copy(update={"trainable": trainable})
    run = Run(
        quickstart.plan, quickstart.request.model_copy(update={"job": job}), quickstart.models, quickstart.card_gib
    )
    said = {name: [str(gap) for gap in LAUNCHERS[name].export(run, smoke=False).gaps] for name in ("verl", "trl")}
    assert any(text.startswith("frozen parts: embeddings:") for text in said["verl"])
    assert any(text.startswith("frozen parts: vision, embeddings:") for text in said["trl"])
    assert "actor.freeze_vision_tower=true" in LAUNCHERS["verl"].export(run, smoke=False).files["launch.sh"]
