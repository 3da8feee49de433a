"""What a check, a refusal and a report say of loading."""

from __future__ import annotations

import pytest
from rich.console import RenderableType

from rlopt import api
from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived
from rlopt.reports.layout import to_text
from rlopt.reports.text.choices import decisions
from rlopt.reports.text.time import sections
from rlopt.studies.cheapest import cheapest
from tests.loading.test_options import EXAMPLES, SLOW, prepare, problem

FACTS = load_catalog()

SFT, VLA, GRPO = "02-sft-llama3.1-8b-deadline", "14-vla-recap-4b-448", "07-grpo-llama3.1-8b-quota"


def shown(*parts: RenderableType) -> str:
    return " ".join(to_text(*parts, width=200).split())


def lines(name: str, *changes: str) -> list[str]:
    """What a check derives that speaks of samples."""
    every = derived(api.load(EXAMPLES / f"{name}.yaml", changes), FACTS)
    said = [line for line in every if not line.startswith("at defaults")]
    return [line for line in said if "prepar" in line or "is read as" in line or "from the store" in line]


def test_a_check_says_what_is_read_and_what_prepares_it() -> None:
    assert lines(SFT) == []
    assert lines(SFT, "job.data.prepare={vcpu_seconds_per_sample: 0.5}") == [
        "a sequence is read as 2.344 KiB (its tokens, 4 bytes each)",
        "preparing a sequence takes 0.5 vCPU seconds, on 50% of the training machines' processors (assumed) and on "
        "preparation machines whose number is a decision",
    ]
    assert lines(SFT, "job.data.prepare={memory_per_vcpu: 4 GiB}")[1:] == [
        "job.data.prepare.vcpu_seconds_per_sample is not given: decoding and shuffling take no time"
    ]
    store = ("choices.data_store=[object, block]", "job.dataset_size=1GB", "job.data.compression_ratio=0.5")
    assert lines(SFT, *store) == [
        "each step reads its samples from the store: object or block",
        "a sequence is read as 1.172 KiB (its tokens, 4 bytes each; job.dataset_samples is not given × 0.5)",
    ]
    assert lines(SFT, *store, "job.dataset_samples=1000")[1] == (
        "a sequence is read as 488.3 KiB (job.dataset_size / job.dataset_samples × 0.5)"
    )


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (GRPO, "job.data.prepare={vcpu_seconds_per_sample: 1}", "grpo samples its own data and reads prompts alone"),
        (GRPO, "choices.data_store=[filesystem]", "grpo samples its own data and reads prompts alone"),
        (VLA, "job.data.prepare={vcpu_seconds_per_sample: 1}", "none is stored before the first step"),
    ],
)
def test_jobs_that_read_no_samples_refuse_the_keys(name: str, change: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        api.load(EXAMPLES / f"{name}.yaml", (change,))


def test_a_report_says_where_samples_come_from_and_what_waits() -> None:
    plan = cheapest(problem("job.dataset_size=5TB", "job.dataset_samples=200000", *SLOW, prepare(10.0)), "pulp")
    assert plan.time is not None
    text = shown(decisions(plan))
    assert "512 virtual CPUs beside the machines that train" in text
    assert "read from object storage, prepared by" in text
    assert "load samples, beside the step before for" in shown(*sections(plan.time))
    assert any("s of each step for samples" in note for note in plan.warnings)


def test_what_loads_in_a_moment_takes_no_line() -> None:
    plan = cheapest(problem(), "pulp")
    assert plan.time is not None
    assert plan.time.stages[0].stage == "load"
    assert "load samples" not in shown(*sections(plan.time))
    assert "samples" not in shown(decisions(plan)).replace("no sample texts", "")


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ("job.data.prepare={vcpu_seconds_per_sample: 0}", "reading samples"),
        ("job.data.prepare={vcpu_seconds_per_sample: 20}", "preparing samples"),
    ],
)
def test_loading_says_which_half_takes_longer(change: str, limit: str) -> None:
    plan = api.solve(api.load(EXAMPLES / f"{SFT}.yaml", ("limits.deadline=2000h", change)), short_frontier=False)
    assert plan.time is not None
    assert [stage.limited_by for stage in plan.time.stages if stage.stage == "load"] == [limit]
