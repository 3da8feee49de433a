"""What a configuration costs, takes and lacks, beside the optimum: schema ``rlopt.evaluation/1``.

Memory is GiB per GPU, money USD, hours those of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.difference import Difference
from rlopt.answers.plan import Plan
from rlopt.strict import Strict


class Said(Strict):
    """One thing of the configuration with its value: stated in its file, or taken because that is cheapest."""

    key: str
    """Dotted, as in a plan: ``decisions.group_size``, ``pools.train.gpus``."""
    value: Any


class StageNeed(Strict):
    """What one stage of one pool takes of each GPU."""

    pool: str
    stage: str
    needed_gib: float
    capacity_gib: float
    parts: dict[str, float]
    """weights, gradients, optimizer, activations, logits, kv_cache, buffers, runtime."""

    @property
    def fits(self) -> bool:
        """Whether the GPU has that much."""
        return self.needed_gib <= self.capacity_gib


class Remedy(Strict):
    """One change of the configuration under which it fits."""

    key: str
    before: Any
    after: Any
    total_usd: float
    expected_hours: float
    breaks: list[str] = Field(default_factory=list)
    """Limits and floors of the request that it does not keep with that change."""


class Misfit(Strict):
    """Why the configuration cannot run."""

    pool: str
    reason: str
    """One sentence: which stage, which part, how much is missing."""
    stage: str | None = None
    part: str | None = None
    """The largest part of that stage."""
    part_gib: float | None = None
    needed_gib: float | None = None
    capacity_gib: float | None = None
    missing_gib: float | None = None
    """Per GPU."""
    remedies: list[Remedy] = Field(default_factory=list)
    """Single changes that help: those that break no limit or floor first, each part cheapest first."""


class Broken(Strict):
    """A limit or floor of the request that the configuration does not keep."""

    constraint: str
    value: float | None
    limit: float | None
    unit: str


class ConfigurationEvaluation(Strict):
    """The answer to ``rlopt evaluate``."""

    schema_: Literal["rlopt.evaluation/1"] = Field("rlopt.evaluation/1", alias="schema")
    name: str
    """Of the configuration: its file."""
    fits: bool
    misfit: Misfit | None = None
    memory: list[StageNeed] = Field(default_factory=list)
    stated: list[Said] = Field(default_factory=list)
    taken: list[Said] = Field(default_factory=list)
    """What was not stated, at its cheapest."""
    breaks: list[Broken] = Field(default_factory=list)
    outside: list[str] = Field(default_factory=list)
    """Choices of the request that do not allow the configuration."""
    notes: list[str] = Field(default_factory=list)
    """What was assumed, and what was not understood."""
    plan: Plan | None = None
    """The configuration with its bill and hours; null where it does not fit."""
    optimum: Plan
    """The cheapest plan of the request, machines with a price of your own among its choices."""
    difference: Difference | None = None
    """From the configuration to the optimum."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    @property
    def keeps(self) -> bool:
        """Whether the configuration fits and keeps every limit and floor."""
        return self.fits and not self.breaks

    def document(self) -> Mapping[str, Any]:
        """The evaluation as the JSON document of interface ``rlopt.evaluation/1``."""
        return self.model_dump(mode="json", by_alias=True)
