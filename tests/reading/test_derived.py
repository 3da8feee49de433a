"""The sentences of ``rlopt check``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived

FACTS = load_catalog()

Load = Callable[..., Any]


def test_everything_that_follows(bases: dict[str, str], load: Load) -> None:
    text = (
        bases["grpo"]
        .replace("version: 1", "version: 1\nextends: [grpo]")
        .replace(
            "steps: 100",
            "epochs: 2\n  dataset_samples: 1000\n  pass_rate: 0.2\n  trials: 3",
        )
        .replace("name: small", "name: small\n  filter: {drop: 0.25}")
        .replace("update_precision: bf16", "informative_groups: 0.9\n  group_size: {value: 4, because: easy}")
        .replace("group_size: [8]", "group_size: [8, 16]")
    )
    assert [line for line in derived(load(text), FACTS) if not line.startswith("at defaults")] == [
        "job small: grpo, all weights trained, with adamw; "
        "models: policy Qwen/Qwen2.5-0.5B, reference policy, reward rule",
        "steps: 32 (ceil(2 epochs × 1000 samples / 64 per step))",
        "3 full runs are billed; hours are those of one",
        "512 samples a step at K = 8 samples a prompt, 384 per policy update",
        "1024 samples a step at K = 16 samples a prompt, 768 per policy update",
        "K >= 11 by floors.informative_groups: 1 - p^K - (1-p)^K >= 0.9 at p = 0.2",
        "data set: 390.6 KiB before compression",
        "job.metrics is not given: 25 series every step; 2 of each GPU every 1min",
        "extends, in this order: base, grpo",
        "floors from preset base: checkpoints.keep_best 1, checkpoints.keep_recent 2, "
        "checkpoints.recovery_time 30min, core_metrics.every 10, free_storage 0.1, update_precision bf16",
        "floors from preset grpo: checkpoints.history_every 100, max_staleness 1, on_demand_share 0.25, "
        "samples_per_update 512, score_precision bf16, text_log_rate 0.01",
        "loosened or explained: floors.group_size: 4 instead of 8 (preset grpo): easy",
        "job.models.reference is not given: policy, a frozen copy that is kept and scored",
        "choices.precision is not given: rollout bf16 or fp8, scoring and training bf16",
        "limits.max_gpus is not set: the number of GPUs is bounded by offers and quotas alone",
        "costs.engineer_hour is not given: people are not on the bill",
        "kept after the run: checkpoints 30d, logs 30d, data set 30d",
    ]


def test_a_convergence_table_and_an_unreachable_floor(bases: dict[str, str], load: Load) -> None:
    text = (
        bases["grpo"]
        .replace("steps: 100", "convergence: {8: 700, 16: 600}")
        .replace("group_size: [8]", "group_size: [4, 8]")
        .replace("update_precision: bf16", "group_size: 16")
    )
    found = derived(load(text), FACTS)
    assert "steps by group size: 8: 700" in found
    assert "group sizes without an entry in job.convergence are excluded: 4" in found
    assert "no group size in choices reaches the floor of 16: the request cannot be met as it stands" in found


def test_robots_and_images(bases: dict[str, str], load: Load) -> None:
    text = bases["vla"].replace("{policy: some/vla}", "{policy: some/vla, value: some/value}")
    found = derived(load(text, "floors.value_bins=201"), FACTS)
    assert "choices.value_bins is not given: 201, the floor" in found
    assert "256 image tokens per observation (1 × 256)" in found
    assert "one inference every 1s of robot time (50 actions)" in found
    assert "job.value_stride is not given: one score per inference (1 s)" in found
    assert not any(line.startswith("data set") for line in found)


def test_no_floors_and_no_deadline(bases: dict[str, str], load: Load) -> None:
    found = derived(load(bases["sft"]), FACTS)
    assert "no floors are set: extends: [...] brings those of a preset" in found
    assert "no deadline is set: the cheapest plan may take long" in found
    assert "64 sequences a step, 64 per policy update" in found


def test_what_is_logged_held_kept_and_released(bases: dict[str, str], load: Load) -> None:
    found = derived(
        load(
            bases["grpo"],
            "job.metrics={scalars: 40, histograms: 3, intermediates: 2, every: 5, thin_after: 0.25, thin_to: 0.1}",
            "job.text_log={abnormal_share: 0.02, anomalies: 0.5, debug_steps: 4}",
            "job.cache={replay: 2 GiB, transcripts: 1 GiB, peak_ops: 300}",
            "job.fallback={share_of_steps: 0.05}",
            "job.data={versions: {count: 3, changed_share: 0.1, copies: delta, raw_kept: true}, shared_by: 2}",
            "job.data.stands_in={provider: aws, region: eu-west-1}",
            "job.environment={kind: tools, calls_per_sample: {mean: 1, max: 2}, seconds_per_call: {mean: 1s, max: 2s}}",
            "limits.budget.storage=5 USD",
            "costs.idle={before_release: 30min, automatic: {within: 5min, setup_hours: 2}, volumes: 48h}",
        ),
        load_catalog(),
    )
    assert set(found) >= {
        "metrics: 40 series, 3 histograms, 2 of intermediate variables every 5 steps, 10% of that after 25% of the "
        "run; 2 of each GPU every 1min",
        "50% of the 2.00% of samples that are abnormal are logged in full",
        "4 steps are debugged: 100% of their samples in full, kept 3d",
        "held in a fast store: 3 GiB, 300 operations a second at the peak",
        "5% of steps score and sample at bf16 instead of a lower precision",
        "versions of the data set: 3, 10% changed each, kept as delta copies, beside the raw data",
        "the data set is shared by 2 projects: each pays its part of the storage",
        "the data set stands in aws eu-west-1: reading it from elsewhere is traffic",
        "job.environment.instances is not given: their number is a decision",
        "budgets by dimension: storage 5 USD",
        "release after 30min, or by a script within 5min (2 h to set up): a decision",
        "disks outlive the run by 2d",
    }


def test_facts_below_a_floor_are_told(bases: dict[str, str], load: Load) -> None:
    change = ("job.metrics.every=5", "job.data.precision=jpeg75", "job.metrics.hardware=0")
    found = derived(
        load(bases["sft"], *change, "floors={core_metrics: {every: 2}, data_precision: jpeg90}"), load_catalog()
    )
    assert "metrics: 25 series every 5 steps; none of the hardware" in found
    assert (
        "metrics are 5 steps apart and floors.core_metrics asks for 2: the request cannot be met as it stands" in found
    )
    assert (
        "data are stored as jpeg75 and floors.data_precision asks for jpeg90: "
        "the request cannot be met as it stands" in found
    )
    fine = derived(
        load(bases["sft"], *change, "floors={core_metrics: {every: 5}, data_precision: jpeg75}"), load_catalog()
    )
    assert not any("cannot be met" in line for line in fine)


def test_steps_by_value_bins(bases: dict[str, str], load: Load) -> None:
    text = bases["vla"].replace("steps: 10", "value_convergence: {101: 12, 201: 10}").replace("vla}", "vla, value: v}")
    found = derived(load(text), FACTS)
    assert "steps by value bins: 101: 12, 201: 10" in found
    assert not any(line.startswith("steps: ") for line in found)
    assert "10% more tokens are trained against forgetting" in derived(
        load(bases["sft"], "job.remedial_share=0.1"), load_catalog()
    )
