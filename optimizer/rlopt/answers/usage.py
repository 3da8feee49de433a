"""What one run uses in the units that engineers ask for: tokens, bytes, useful arithmetic, and dollars for each."""

from __future__ import annotations

from pydantic import Field

from rlopt.strict import Strict


class PoolUse(Strict):
    """How busy one pool of GPUs is."""

    pool: str
    busy_seconds: float
    """Of a step, its own stages together."""
    busy: float
    """Share of a step."""
    stage: str
    """Its longest stage."""
    model: str | None = None
    limited_by: str | None = None
    """What, twice as fast, would shorten that stage most."""


class Usage(Strict):
    """Of one run without failures, what is evaluated along the way left out; null where a job has no such thing."""

    prompt_tokens: float | None = None
    """Tokens of the prompts (a policy that acts: of what it sees) of all responses that are sampled."""
    response_tokens: float | None = None
    """Tokens that are generated (a policy that acts: its action tokens)."""
    seconds_per_1000_tokens: float | None = None
    """Seconds that a step takes to generate 1,000 of them, all machines together."""
    training_tokens: dict[str, float] = Field(default_factory=dict)
    """Tokens that updates read by trained model, each as often as it is read; a policy of two parts is two models."""
    handover_gb_per_step: float | None = None
    """Weights that a step hands over, a copy to each pool that samples. Adapters are merged into the whole weights."""
    handover_gb: float | None = None
    """The same in all steps."""
    gradient_gb_per_node: float = 0.0
    """Gradients that the GPUs of one training node send to others in a step, on the same node or another. Of stages of
    different size the fullest counts."""
    gradient_gb_leaving_node: float = 0.0
    """Part of them that leaves for another node."""
    storage_growth_gb_per_day: dict[str, float] = Field(default_factory=dict)
    """What every day of the run adds to storage as it is stored, by item; copies that replace others add nothing."""
    pools: list[PoolUse] = Field(default_factory=list)
    """The busiest first: a step waits for that one longest."""
    useful_pflop_days: float
    """Arithmetic that the job needs whatever it runs on: no recomputation, padding, attention or failed step."""
    compute_usd_per_pflop_day: float | None = None
    """Bill for compute of all runs over their useful arithmetic; what is done before the job is left out of both."""
    usd_per_pflop_day: float | None = None
    """The same of the whole bill."""
    usd_per_million_training_tokens: float | None = None
    """Whole bill of all runs over the tokens that updates of the policy read; of its two parts those of the larger."""
