"""Kernels of the training stack as a choice: what fits, what is faster, and what the named launcher has."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.errors import InputError, NotSupportedError
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived
from rlopt.reports.text.choices import decisions
from rlopt.request import Request
from tests.studies.small import asked, solved, usd

FACTS = load_catalog()

LONG: dict[str, Any] = {
    "prompt_tokens": {"mean": 2000, "max": 4000},
    "response_tokens": {"mean": 8000, "max": 24000},
    "prompts_per_step": 8,
    "steps": 20,
}


def fine_tuning(kernels: dict[str, Any] | None = None, **sections: Any) -> Request:
    """Supervised fine-tuning on long texts with a vocabulary of 151,936."""
    job = {**LONG, **sections.pop("job", {})}
    choices = {"gpus": ["L40S", "A100-80GB"], **({"kernels": kernels} if kernels else {})}
    return asked("sft", {"policy": "Qwen/Qwen2.5-0.5B"}, job=job, choices=choices, **sections)


def used(plan: Plan) -> dict[str, str] | None:
    """Kernels that a plan counts with."""
    assert plan.decisions is not None
    return plan.decisions.kernels


ADAPTER = {"trainable": {"lora_rank": 16}}


def test_a_chunked_loss_is_chosen_where_logits_would_not_fit_a_cheaper_machine() -> None:
    whole, chunked = (solved(fine_tuning({"loss": [loss]}, job=ADAPTER)) for loss in ("whole", "chunked"))
    assert usd(chunked) < 0.5 * usd(whole)
    plan = solved(fine_tuning({"loss": ["whole", "chunked"]}, job=ADAPTER))
    assert used(plan) == {"loss": "chunked", "attention": "fused"}
    assert usd(plan) == pytest.approx(usd(chunked))


def test_a_whole_loss_is_chosen_where_the_engines_fused_one_holds_more() -> None:
    """Megatron's fused loss was measured to hold 6.8 bytes a logit, its plain one 6.4 (catalogs/calibration)."""
    whole, chunked = (solved(fine_tuning({"loss": [loss]})) for loss in ("whole", "chunked"))
    assert usd(whole) < usd(chunked)
    plan = solved(fine_tuning({"loss": ["chunked", "whole"]}))
    assert used(plan) == {"loss": "whole", "attention": "fused"}
    assert usd(plan) == pytest.approx(usd(whole))


def test_what_the_request_states_is_kept_where_nothing_is_gained() -> None:
    short = {"prompt_tokens": {"mean": 100, "max": 200}, "response_tokens": {"mean": 300, "max": 500}}
    plan = solved(fine_tuning({"loss": ["chunked", "whole"]}, job=short))
    assert used(plan) == {"loss": "whole", "attention": "fused"}
    stated = solved(fine_tuning(job=short))
    assert usd(plan) == usd(stated)
    assert used(stated) == {"loss": "whole", "attention": "fused"}


def test_fused_attention_is_faster_and_plain_is_used_where_it_is_all_there_is() -> None:
    middle = {"prompt_tokens": {"mean": 1000, "max": 2000}, "response_tokens": {"mean": 1000, "max": 2000}}
    fused, plain = (solved(fine_tuning({"attention": [name]}, job=middle)) for name in ("fused", "plain"))
    assert usd(fused) < usd(plain)
    assert used(plain) == {"loss": "whole", "attention": "plain"}
    both = solved(fine_tuning({"attention": ["plain", "fused"]}, job=middle))
    assert used(both) == {"loss": "whole", "attention": "fused"}
    assert usd(both) == pytest.approx(usd(fused))
    fact = solved(fine_tuning(job={**middle, "kernels": {"attention": "plain"}}))
    assert usd(fact) == usd(plain)
    console = Console(width=200, record=True, file=StringIO())
    console.print(decisions(fact))
    assert "attention holds the scores of all pairs" in console.export_text()


@pytest.mark.parametrize("algorithm", ["grpo", "opd"])
def test_kernels_are_chosen_in_loops_too(algorithm: str) -> None:
    plan = solved(
        asked(algorithm, choices={"kernels": {"loss": ["chunked", "whole"], "attention": ["plain", "fused"]}})
    )
    kernels = used(plan)
    assert kernels is not None
    assert kernels["attention"] == "fused"
    assert usd(plan) <= usd(solved(asked(algorithm))) + 0.005


def test_a_launcher_offers_what_its_documents_state() -> None:
    both = {"loss": ["whole", "chunked"]}
    verl = solved(fine_tuning(both, job=ADAPTER, recovery={"launcher": "verl"}))
    assert used(verl) == {"loss": "chunked", "attention": "fused"}
    unknown = solved(fine_tuning(both, job=ADAPTER, recovery={"launcher": "openrlhf"}))
    assert used(unknown) == {"loss": "whole", "attention": "fused"}
    assert any("chunked losses: openrlhf is not known to have one" in text for text in unknown.warnings)
    with pytest.raises(NotSupportedError, match="chunked needs a chunked or fused loss"):
        problem_of(fine_tuning({"loss": ["chunked"]}, recovery={"launcher": "openrlhf"}))


def test_the_check_says_what_is_open() -> None:
    text = "\n".join(derived(fine_tuning({"loss": ["whole", "chunked"]}), FACTS))
    assert "kernels are a decision: loss whole or chunked" in text


def test_a_kernel_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match=r"choices.kernels.loss"):
        fine_tuning({"loss": ["liger"]})
