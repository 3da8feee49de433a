# ruff: noqa: E501 - a case is one line: the change and the complaint it must bring
"""Keys of the bill's smaller lines: what reading takes, and what each refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import Complaint

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]

# fmt: off
TAKEN = (
    ("grpo", "job.metrics={scalars: 60, histograms: 4, every: 10, thin_after: 0.2, thin_to: 0.5, hardware: 8, hardware_every: 30s, intermediates: 3}"),
    ("grpo", "job.text_log={abnormal_share: 0.01, anomalies: 1, debug_steps: 100, debug_rate: 0.5}"),
    ("grpo", "job.cache={replay: 20 GiB, index: 1 GB, reward_intermediates: 0, good_samples: 1 GiB, transcripts: 2 GiB, peak_ops: 1e4}"),
    ("sft", "job.remedial_share=0.15"),
    ("grpo", "job.fallback={share_of_steps: 0.1}"),
    ("sft", "job.data={precision: jpeg90, versions: {count: 4, changed_share: 0.2, copies: delta, raw_kept: true}, shared_by: 3, stands_in: {provider: aws, region: us-east-1}}"),
    ("grpo", "choices.log_probs=[stored]"),
    ("grpo", "choices.scoring=[own]"),
    ("grpo", "choices.mixed_pools=false"),
    ("grpo", "floors.score_precision=bf16"),
    ("sft", "floors.data_precision=jpeg95"),
    ("grpo", "floors.core_metrics.every=10"),
    ("grpo", "costs.keep_for.full_text=0"),
    ("grpo", "costs.idle={before_release: 20min, automatic: {within: 5min, setup_hours: 90min}, volumes: 72h}"),
    ("vla", "job.environment={kind: simulator, steps_per_second: 100}"),
    ("grpo", "job.cache={replay: {items: 20000, bytes_per_item: 40 kB}, peak_ops: 1e4}"),
    ("grpo", "job.metrics.traces={spans_per_step: 500, sample_rate: 0.1, bytes_per_span: 1 kB}"),
    ("grpo", "costs.dashboards={panels: 3, users: 2, price: 3 USD, user_price: 8 USD}"),
    ("grpo", "costs.logs_to={provider: aws, region: us-east-1}"),
    ("sft", "job.data={new_samples: 100, collect_price: 0.5 USD, accepted_share: 0.8, inspect: {share: 0.05, price: 0.2 USD}, tools: 50 USD}"),
    ("grpo", "job.evaluation={every: 50, samples: 500, build_price: 900 USD}"),
)

REFUSED = (
    ("grpo", "job.metrics.scalars=-1", "job.metrics.scalars", "-1 is out of range", "a whole number, 0 or more", "write for example 0"),
    ("grpo", "job.metrics.every=0", "job.metrics.every", "0 is out of range", "a whole number, 1 or more", "write for example 8"),
    ("grpo", "job.metrics.hardware_every=60", "job.metrics.hardware_every", "60 has no unit", "with its unit", "write 60h if that is meant"),
    ("grpo", "job.metrics={thin_to: 0.1}", "job.metrics", "thin_to 0.1 thins nothing on its own", "both below 1", "add thin_after: 0.2"),
    ("grpo", "job.metrics.scalar=3", "job.metrics.scalar", "unknown key in job.metrics", "scalars", "did you mean scalars?"),
    ("grpo", "job.text_log.anomalies=2", "job.text_log.anomalies", "2 is out of range", "at most 1", "write for example 0.5"),
    ("grpo", "job.text_log.debug_steps=101", "job.text_log.debug_steps", "101 exceed the 100 steps of the run", "at most 100", "write debug_steps: 100"),
    ("grpo", "job.cache.replay=20", "job.cache.replay", "20 has no unit", "GiB", "write 20 GiB if that is meant"),
    ("grpo", "job.cache.peak_ops=many", "job.cache.peak_ops", "'many' is not a number", "a number 0 or more", "write for example 1"),
    ("grpo", "job.cache.replay={items: 20000}", "job.cache.replay", "'items' does not say how much is held", "items and bytes_per_item", "write {items: 20000, bytes_per_item: 40 kB}"),
    ("grpo", "job.cache.replay={items: 1.5, bytes_per_item: 4 kB}", "job.cache.replay", "1.5 is not a whole number", "a whole number, 0 or more", "write for example 20000"),
    ("grpo", "job.cache=3", "job.cache", "3 is not a map", "replay", "write {replay: 20 GiB, peak_ops: 2000}"),
    ("grpo", "job.remedial_share=0.1", "job.remedial_share", "does not apply to grpo", "algorithms sft", "delete remedial_share"),
    ("sft", "job.fallback.share_of_steps=0.1", "job.fallback.share_of_steps", "does not apply to sft", "algorithms dpo, ppo", "delete share_of_steps"),
    ("grpo", "job.fallback.share_of_steps=1.1", "job.fallback.share_of_steps", "1.1 is out of range", "at most 1", "write for example 0.5"),
    ("sft", "job.data.precision=png", "job.data.precision", "'png' is not known here", "source, bf16, jpeg95", "write jpeg"),
    ("sft", "job.data.versions.copies=diff", "job.data.versions.copies", "'diff' is not known here", "full, delta", "write "),
    ("sft", "job.data.shared_by=0", "job.data.shared_by", "0 is out of range", "a whole number, 1 or more", "write for example 8"),
    ("sft", "job.data.stands_in={provider: aws}", "job.data.stands_in.region", "is missing", "Region", "add region: us-east-1"),
    ("sft", "choices.value_bins=[201]", "choices.value_bins", "needs a value model, and sft has none", "algorithm: vla", "delete value_bins"),
    ("vla", "choices.value_bins=[201]", "choices.value_bins", "there is no value model", "models.value", "add value to models"),
    ("vla", "job.models.value=some/value", "choices.value_bins", "is missing", "floors.value_bins", "add value_bins: [201]"),
    ("sft", "job.value_convergence={201: 6}", "job.value_convergence", "is given beside steps", "exactly one of steps", "delete steps or value_convergence"),
    ("grpo", "choices.log_probs=[cached]", "choices.log_probs[0]", "'cached' is not known here", "recompute, stored", "write "),
    ("grpo", "choices.scoring=own", "choices.scoring", "'own' is not a list", "a list", "write [own]"),
    ("sft", "choices.scoring=[own]", "choices.scoring", "own cannot be had: sft has one pool", "shared, or own", "write [shared]"),
    ("grpo", "choices.mixed_pools=yes", "choices.mixed_pools", "'yes' is neither true nor false", "true or false", "write true"),
    ("grpo", "floors.score_precision=bf8", "floors.score_precision", "'bf8' is not known here", "fp8", "write "),
    ("grpo", "floors.data_precision=jpeg80", "floors.data_precision", "'jpeg80' is not known here", "jpeg90", "write jpeg"),
    ("grpo", "floors.core_metrics=10", "floors.core_metrics", "10 is not a map", "every", "write {every: 10}"),
    ("grpo", "costs.keep_for.full_text=72", "costs.keep_for.full_text", "72 has no unit", "h, d", "write 72h if that is meant"),
    ("grpo", "costs.idle.automatic={setup_hours: 2}", "costs.idle.automatic.within", "is missing", "Time", "add within: 5min"),
    ("grpo", "costs.idle.before_release=0", "costs.idle.before_release", "0 is not above zero", "above zero", "write for example 2.5h"),
    ("grpo", "job.metrics.traces.sample_rate=2", "job.metrics.traces.sample_rate", "2 is out of range", "at most 1", "write for example 0.5"),
    ("grpo", "job.metrics.traces.bytes_per_span=500", "job.metrics.traces.bytes_per_span", "500 has no unit", "GiB", "write 500 GiB if that is meant"),
    ("grpo", "job.metrics.traces=500", "job.metrics.traces", "500 is not a map", "spans_per_step", "write {spans_per_step: 500, sample_rate: 0.1}"),
    ("grpo", "costs.dashboards={panels: 3}", "costs.dashboards.price", "is missing", "Price of one panel", "add price: 3 USD"),
    ("grpo", "costs.dashboards={price: 3 USD}", "costs.dashboards", "neither panels nor users are counted", "1 or more", "add panels: 3"),
    ("grpo", "costs.dashboards={panels: 1, price: 3 USD, user_price: 8 USD}", "costs.dashboards", "user_price is given and no users are counted", "users of 1 or more", "add users: 2"),
    ("grpo", "costs.dashboards={panels: 1, price: 3 CNY}", "costs.dashboards.price", "is in CNY, but there is no exchange rate", "costs.exchange_rates", "add exchange_rates: {CNY"),
    ("grpo", "costs.logs_to={provider: aws}", "costs.logs_to.region", "is missing", "Region", "add region: us-east-1"),
    ("sft", "job.data.accepted_share=0", "job.data.accepted_share", "0 is out of range", "above 0 and at most 1", "write for example 0.8"),
    ("sft", "job.data.accepted_share=0.8", "job.data.accepted_share", "is given and there are no new samples", "new_samples of 1 or more", "add new_samples: 20000"),
    ("sft", "job.data.collect_price=1 USD", "job.data.collect_price", "is given and there are no new samples", "new_samples of 1 or more", "add new_samples: 20000"),
    ("sft", "job.data.inspect={share: 0.1}", "job.data.inspect.price", "is missing", "Price", "add price: 0.2 USD"),
    ("sft", "job.data.tools=50", "job.data.tools", "50 has no currency", "three capital letters", "write 50 USD if that is meant"),
    ("grpo", "job.evaluation={every: 50, samples: 500, build_price: 9 CNY}", "job.evaluation.build_price", "is in CNY, but there is no exchange rate", "costs.exchange_rates", "add exchange_rates: {CNY"),
    ("grpo", "limits.budget={storage: 5}", "limits.budget.storage", "5 has no currency", "three capital letters", "write 5 USD if that is meant"),
    ("grpo", "limits.budget={storrage: 5 USD}", "limits.budget.storrage", "unknown key in limits.budget", "compute, storage", "did you mean storage?"),
    ("grpo", "limits.budget.cache=5 CNY", "limits.budget.cache", "is in CNY, but there is no exchange rate", "costs.exchange_rates", "add exchange_rates: {CNY"),
    ("grpo", "limits.budget=[5 USD]", "limits.budget", "['5 USD'] is not money", "three capital letters", "write for example 2500 USD"),
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


def test_own_scoring_needs_separate_pools(bases: dict[str, str], complain: Complain, load: Load) -> None:
    (found,) = complain(bases["grpo"], "choices.scoring=[own]", "choices.placements=[colocated]")
    assert (found.key, found.fix) == ("choices.scoring", "write [shared]")
    assert load(bases["grpo"], "choices.scoring=[own]", "choices.placements=[async]").choices.scoring == ("own",)


def test_value_bins_come_from_the_table_else_from_the_floor(
    bases: dict[str, str], load: Load, complain: Complain
) -> None:
    text = bases["vla"].replace("some/vla}", "some/vla, value: some/value}")
    assert load(text, "floors.value_bins=201").choices.value_bins == (201,)
    table = text.replace("steps: 10", "value_convergence: {51: 20, 101: 12}")
    assert load(table, "floors.value_bins=51").value_bins == (51, 101)
    assert load(table, "choices.value_bins=[101, 201]").value_bins == (101,)
    (found,) = complain(table, "choices.value_bins=[201]")
    assert (found.key, found.fix) == ("choices.value_bins", "write [51, 101]")
    assert "no number of [201] has an entry in job.value_convergence" in found.message


def test_loosening_the_new_floors_needs_a_reason(bases: dict[str, str], load: Load, complain: Complain) -> None:
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [grpo]")
    for floor, loose in (("core_metrics.every", "50"), ("score_precision", "fp8")):
        (found,) = complain(text, f"floors.{floor}={loose}")
        assert (found.key, "no reason is given" in found.message) == (f"floors.{floor}", True)
        (reason,) = load(text, f"floors.{floor}={{value: {loose}, because: we tried it}}").reasons
        assert reason.startswith(f"floors.{floor}: {loose} instead of ")
    (reason,) = load(text, "floors.core_metrics={every: 50, because: a long run}").reasons
    assert reason == "floors.core_metrics.every: 50 instead of 10 (preset base): a long run"
    assert load(text, "floors.core_metrics.every=5", "floors.score_precision=fp32").reasons == ()
