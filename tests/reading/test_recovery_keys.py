# ruff: noqa: E501 - a case is one line: the change and the complaint it must bring
"""Keys of recovery, waiting, pilots and trials: what reading takes, and what each refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import Complaint
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]

# fmt: off
TAKEN = (
    ("grpo", "job.divergences=1.5"),
    ("grpo", "job.pilots={runs: 4, share: 0.05, before_deadline: true}"),
    ("grpo", "recovery={spare_nodes: [0, 1], replace_wait: 4h, launcher: cosmos-rl}"),
    ("sft", "recovery.spare_nodes=1"),
    ("grpo", "checkpoint.rollouts={every: 512}"),
    ("grpo", "checkpoint.rollouts=[none, {every: 512}]"),
    ("sft", "costs={hours_per_failure: 2, hours_per_trial: 90min, waiting_people: 0.5}"),
    ("grpo", "limits.deadline_from=request"),
    ("grpo", "limits.wait=6h"),
    ("grpo", "limits.wait=[{gpu: H100, pricing: on_demand, wait: 2d}, {wait: 0}]"),
    ("grpo", "limits.cut_off={at: 0.6, metric: reward, below: 0.4, per: trial, share: 0.3}"),
)

REFUSED = (
    ("grpo", "job.divergences=-1", "job.divergences", "-1 is out of range", "0 or more", "write for example"),
    ("grpo", "job.pilots={share: 0.05}", "job.pilots.runs", "is missing", "How many", "add runs"),
    ("grpo", "job.pilots={runs: 2, share: 1.5}", "job.pilots.share", "1.5 is out of range", "at most 1", "write for example 0.05"),
    ("grpo", "recovery.spare_nodes=[]", "recovery.spare_nodes", "the list is empty", "a list of them", "[0, 1]"),
    ("grpo", "recovery.spare_nodes=[0, -1]", "recovery.spare_nodes", "-1 is out of range", "a whole number from 0 to 64", "write for example 1"),
    ("grpo", "recovery.replace_wait=4", "recovery.replace_wait", "4 has no unit", "with its unit", "write 4h if that is meant"),
    ("grpo", "recovery.spare=1", "recovery.spare", "unknown key in recovery", "spare_nodes", "did you mean spare_nodes?"),
    ("grpo", "checkpoint.rollouts=512", "checkpoint.rollouts", "512 is not a way to keep unfinished responses", "none, {every: tokens}", "[none, {every: 512}]"),
    ("grpo", "checkpoint.rollouts={every: 0}", "checkpoint.rollouts", "0 is out of range", "from 1 to", "write for example 512"),
    ("sft", "checkpoint.rollouts={every: 512}", "checkpoint.rollouts", "does not apply to sft: it samples nothing", "algorithms ppo", "delete rollouts"),
    ("vla", "checkpoint.rollouts={every: 512}", "checkpoint.rollouts", "does not apply to vla: it samples no responses of text", "algorithms ppo", "delete rollouts"),
    ("grpo", "limits.deadline_from=now", "limits.deadline_from", "'now' is not known here", "provisioning, request", "write "),
    ("grpo", "limits.wait=6", "limits.wait", "6 has no unit", "with its unit", "write 6h if that is meant"),
    ("grpo", "limits.wait=[{gpu: H100}]", "limits.wait[0].wait", "is missing", "From the request", "add wait"),
    ("grpo", "limits.wait=[{cpu: H100, wait: 1h}]", "limits.wait[0].cpu", "unknown key", "gpu", "did you mean gpu?"),
    ("grpo", "limits.cut_off={at: 1, metric: reward, below: 0.4}", "limits.cut_off.at", "1 is out of range", "below 1", "write for example 0.6"),
    ("grpo", "limits.cut_off={at: 0.5, below: 0.4}", "limits.cut_off.metric", "is missing", "Series", "add metric"),
    ("grpo", "costs.hours_per_failure=two", "costs.hours_per_failure", "two", "", "write for example"),
)
# fmt: on


@pytest.mark.parametrize(("base", "change"), TAKEN)
def test_what_is_taken(base: str, change: str, bases: dict[str, str], load: Load) -> None:
    assert load(bases[base], change) != load(bases[base])


@pytest.mark.parametrize(("base", "change", "key", "message", "allowed", "fix"), REFUSED)
def test_what_is_refused(
    base: str, change: str, key: str, message: str, allowed: str, fix: str, bases: dict[str, str], complain: Complain
) -> None:
    found = next(complaint for complaint in complain(bases[base], change) if complaint.key == key)
    assert message in found.message
    assert allowed in found.allowed
    assert fix in found.fix


def test_one_value_and_a_list_of_it_are_the_same(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"]
    assert load(text, "recovery.spare_nodes=1").recovery.spare_nodes == (1,)
    assert load(text, "recovery.spare_nodes=[1, 0, 1]").recovery.spare_nodes == (1, 0)
    assert load(text, "checkpoint.rollouts={every: 256}").checkpoint.rollouts == (256,)
    assert load(text, "checkpoint.rollouts=[none, {every: 256}]").checkpoint.rollouts == (0, 256)
    (row,) = load(text, "limits.wait=6h").limits.wait
    assert (row.wait, row.gpu) == (6 * 3600.0, None)


def test_trials_that_are_cut_off_are_billed_for_what_they_run(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"]
    assert load(text, "job.trials=5").billed_runs == 5.0
    cut = "limits.cut_off={at: 0.6, metric: reward, below: 0.4, share: 0.5}"
    assert load(text, "job.trials=5", cut).billed_runs == pytest.approx(1 + 4 * (0.5 + 0.5 * 0.6))
    assert load(text, cut).billed_runs == 1.0


def test_a_request_survives_its_own_dump(bases: dict[str, str], load: Load) -> None:
    changes = [change for base, change in TAKEN if base == "grpo"]
    request = load(bases["grpo"], *changes)
    again = type(request).model_validate(request.model_dump(by_alias=True))
    assert (again.recovery, again.checkpoint, again.limits.wait) == (
        request.recovery, request.checkpoint, request.limits.wait,
    )  # fmt: skip


def test_a_check_says_each_of_them_in_words(bases: dict[str, str], load: Load) -> None:
    changes = [
        "job.trials=3",
        "job.divergences=0.5",
        "job.pilots={runs: 4, share: 0.05}",
        "limits.cut_off={at: 0.6, metric: reward, below: 0.4, share: 0.5}",
        "limits.deadline_from=request",
        "limits.wait=[{gpu: H100, pricing: spot, wait: 6h}, {wait: 1h}]",
        "recovery={spare_nodes: [0, 1], replace_wait: 4h, launcher: cosmos-rl}",
        "checkpoint.rollouts=[none, {every: 512}]",
        "costs.waiting_people=0.5",
        "floors.checkpoints.history_every=50",
    ]
    said = derived(load(bases["grpo"], *changes), FACTS)
    for sentence in (
        "4 pilots of 5% of a run each are billed at the plan's own machines, their hours outside the deadline",
        "0.5 collapses of a run are expected: each costs half of 50 steps on average, and a restart",
        "a trial whose reward is below 0.4 after 60% of its steps is cut off; 50% of the further trials are, "
        "so 2.6 runs are billed",
        "0 or 1 spare nodes of the training pool's offer stand ready (a decision), paid all the time",
        "a lost machine is replaced after 4h where no spare node is ready",
        "launcher cosmos-rl: where it is elastic, a lost rollout machine does not stop the run",
        "unfinished responses are copied to storage not at all or every 512 tokens (a decision)",
        "the deadline starts with the request: the wait for machines counts",
        "waits for machines: H100 spot 6h; any machine 1h, the longest that matches",
        "0.5 engineer hours are lost for each hour of waiting",
    ):
        assert sentence in said
    idle = derived(load(bases["grpo"], "costs.waiting_people=0.5"), FACTS)
    assert any("nothing is waited for" in sentence for sentence in idle)
