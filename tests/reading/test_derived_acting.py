"""What ``rlopt check`` says of a policy's heads and loss, and of its value model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

Load = Callable[..., Any]


def test_a_loss_that_nobody_named_and_one_that_is_dear(bases: dict[str, str], load: Load) -> None:
    quiet = derived(load(bases["vla"]), FACTS)
    assert (
        "job.action.policy_loss is not given: awr, actions are weighted by their advantage, one denoising step each; "
        "no likelihood"
    ) in quiet
    dear = [line for line in derived(load(bases["vla"], "job.action.policy_loss=ppo"), FACTS) if "policy loss" in line]
    assert dear == [
        "policy loss ppo: a likelihood of every trained action before each update; a flow head runs all 5 "
        "denoising steps for it, and its update keeps those of each"
    ]
    assert not any("policy_loss" in line for line in derived(load(bases["sft"]), FACTS))


def test_steps_by_head_take_the_place_of_steps(bases: dict[str, str], load: Load) -> None:
    text = bases["vla"].replace("steps: 10", "convergence: {flow: 40, one_step: 60}")
    found = derived(load(text, "choices.action_head=[flow, one_step]"), FACTS)
    assert "steps by action head: flow 40, one_step 60; the head is a decision" in found
    assert not any(line.startswith("steps by group size") for line in found)
    sizes = bases["vla"].replace("steps: 10", "convergence: {flow: {1: 40, 2: 30}}")
    assert "steps by action head: flow 40 at K 1, 30 at K 2" in derived(
        load(sizes, "choices.group_size=[1, 2]"), load_catalog()
    )


def test_a_value_model_that_shares_learns_first_and_screens(bases: dict[str, str], load: Load) -> None:
    text = bases["vla"].replace("{policy: some/vla}", "{policy: some/vla, value: {share: backbone, head: 400M}}")
    asked = (
        "job.trainable={frozen: [vision, backbone]}",
        "job.offline={samples: 1500, epochs: 2}",
        "job.filter={drop: 0.5, before_storage: true}",
        "floors.value_bins=1",
    )
    found = derived(load(text, *asked), FACTS)
    assert (
        "the value model is a head of 400,000,000 weights on the policy's backbone, whose weights are held once"
    ) in found
    assert "the value model has one output: regression in place of bins" in found
    assert "before the first step the value model is trained on 1,500 stored trajectories, 2 times" in found
    assert (
        "the value model scores every trajectory where it is collected, and 50% are dropped before they are stored"
    ) in found
    assert not any("value model is" in line or "screen" in line for line in derived(load(bases["vla"]), FACTS))
