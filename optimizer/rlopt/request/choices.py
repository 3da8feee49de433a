"""What the optimizer may pick from; a key left out means all that the catalogs hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rlopt.request.job.data_work import DataStore
from rlopt.request.job.parts import KernelChoices
from rlopt.request.values.kinds import Count, Kind, Name, PartShare, Switch, Whole, refuse, show, unique
from rlopt.strict import Strict
from rlopt.words import ActionHead, Confidence, Grade, LogProbs, Offload, Placement, Precision, PricingKind, Scoring

ANY: Final = "any"

_NAMES_ALLOWED: Final = "a list of names, or any"


def _name_list(value: Any, example: str) -> tuple[str, ...]:
    if isinstance(value, str):
        message = f"{show(value)} is not a list"
        raise refuse(message, _NAMES_ALLOWED, f"write [{value}]")
    if not isinstance(value, (list, tuple)):
        message = f"{show(value)} is not a list of names"
        raise refuse(message, _NAMES_ALLOWED, f"write for example {example}")
    if not value:
        message = "the list is empty: nothing could be chosen"
        raise refuse(message, _NAMES_ALLOWED, "delete the key for any")
    for item in value:
        if not isinstance(item, str) or not item.strip() or len(item) > 200:
            message = f"{show(item)} in the list is not a name"
            raise refuse(message, _NAMES_ALLOWED, f"write for example {example}")
    return unique(tuple(item.strip() for item in value))


_LIST_SCHEMA: Final = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
_ANY_SCHEMA: Final = {"const": ANY}


class NamesKind(Kind):
    """A list of names, or `any` (None once read)."""

    def __init__(self, example: str) -> None:
        self.example = example

    def read(self, value: Any, info: Any) -> tuple[str, ...] | None:
        """Return the names, None for any."""
        return None if value is None or value in (ANY, [ANY], (ANY,)) else _name_list(value, self.example)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        return {"anyOf": [_LIST_SCHEMA, _ANY_SCHEMA]}


class RegionsKind(NamesKind):
    """Names, `any`, or a map from provider to names or `any`."""

    def read(self, value: Any, info: Any) -> Any:
        """Return names, None for any, or the map."""
        if not isinstance(value, Mapping):
            return super().read(value, info)
        if not value:
            message = "the map is empty"
            raise refuse(message, "provider: [regions] or provider: any", "delete the key for any")
        read: dict[str, tuple[str, ...] | Literal["any"]] = {}
        for provider, regions in value.items():
            try:
                read[str(provider)] = super().read(regions, info) or "any"
            except PydanticCustomError as error:
                context = error.context or {}
                message = f"{show(str(provider))}: {context.get('text', '')}"
                raise refuse(message, str(context.get("allowed", "")), str(context.get("fix", ""))) from None
        return read

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        per_provider = {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"anyOf": [_LIST_SCHEMA, _ANY_SCHEMA]},
        }
        return {"anyOf": [_LIST_SCHEMA, _ANY_SCHEMA, per_provider]}


Precisions = Annotated[tuple[Precision, ...], Field(min_length=1), AfterValidator(unique)]
Regions = Annotated[
    tuple[str, ...] | Mapping[str, tuple[str, ...] | Literal["any"]] | None,
    RegionsKind("[us-east-1, us-west-2]"),
]


class PrecisionChoices(Strict):
    """Precisions that each kind of work may run in."""

    rollout: Precisions = (Precision.BF16, Precision.FP8)
    """Generation; bf16 and fp8 when left out."""
    score: Precisions = (Precision.BF16,)
    """Scoring passes; bf16 when left out."""
    update: Precisions = (Precision.BF16,)
    """Training; bf16 when left out."""


class Choices(Strict):
    """The levers; what is left out is open."""

    providers: Annotated[tuple[str, ...] | None, NamesKind("[aws, gcp, lambda]")] = None
    """Names of providers, or any."""
    countries: Annotated[tuple[str, ...] | None, NamesKind("[US, DE]")] = None
    """Two-letter codes of countries, or any."""
    regions: Regions = None
    """Names of regions, any, or per provider; a provider that such a map does not name may use any."""
    zones: Annotated[tuple[str, ...] | None, NamesKind("[us-east-1a]")] = None
    """Names of zones: spot is then priced zone by zone."""
    gpus: Annotated[tuple[str, ...] | None, NamesKind("[H100, A100-80GB]")] = None
    """GPU types; a family name stands for all its forms (H100 = SXM, PCIe, NVL)."""
    pricing: Annotated[tuple[PricingKind, ...], Field(min_length=1), AfterValidator(unique)] = tuple(PricingKind)
    """on_demand, spot, reserved."""
    placements: Annotated[tuple[Placement, ...], Field(min_length=1), AfterValidator(unique)] | None = None
    """colocated, disaggregated, async; all when left out, colocated alone where nothing is generated."""
    group_size: (
        Annotated[tuple[Annotated[int, Count(1, 100_000)], ...], Field(min_length=1), AfterValidator(unique)] | None
    ) = None
    """Samples per prompt (K) that may be chosen; read as (1,) for ppo, opd and vla, None for sft, dpo, rm."""
    precision: PrecisionChoices = PrecisionChoices()
    """Precisions by kind of work."""
    offload: Annotated[tuple[Offload, ...], Field(min_length=1), AfterValidator(unique)] = tuple(Offload)
    """What may move to host memory."""
    staleness: Annotated[tuple[Whole, ...], Field(min_length=1), AfterValidator(unique)] = (1,)
    """Steps that samples may lag behind in the async placement; synchronous placements have 0."""
    price_confidence: Annotated[tuple[Confidence, ...], Field(min_length=1), AfterValidator(unique)] = (
        Confidence.HIGH,
        Confidence.MEDIUM,
    )
    """How sure a price must be."""
    grades: Annotated[tuple[Grade, ...], Field(min_length=1), AfterValidator(unique)] = (Grade.LIST,)
    """Where a price may come from; a marketplace that `providers` names is used as well."""
    log_probs: Annotated[tuple[LogProbs, ...], Field(min_length=1), AfterValidator(unique)] = tuple(LogProbs)
    """Log-probabilities of frozen models: recompute them each time, or compute them once and store them."""
    scoring: Annotated[tuple[Scoring, ...], Field(min_length=1), AfterValidator(unique)] = tuple(Scoring)
    """Where teacher and reward models score: on the training pool, on a pool of their own (separate pools only), or on
    machines without GPUs (reward models whose cpu is stated)."""
    mixed_pools: Switch = True
    """A rollout or scoring pool may be mixed of two offers."""
    value_bins: Annotated[tuple[Whole, ...], Field(min_length=1), AfterValidator(unique)] | None = None
    """Bins of the value model that may be chosen (vla), 1 = regression; those of value_convergence, else the floor."""
    kernels: KernelChoices = KernelChoices()
    """Kernels of the training stack that may be chosen; none named: those of job.kernels are a fact."""
    data_store: Annotated[tuple[DataStore, ...], Field(min_length=1), AfterValidator(unique)] = ("object",)
    """Store that each step reads its samples from: object | filesystem (mounted by all machines that train) | block
    (a volume of each of them); object when left out."""
    action_head: Annotated[tuple[ActionHead, ...], Field(min_length=1), AfterValidator(unique)] | None = None
    """How the policy may act (vla), each head with steps of its own in job.convergence; action.head when left out."""
    offers: Name | None = None
    """Own price list (CSV, docs/prices.md) in this file's folder, absolute once read; it stands before all others."""
    discounts: dict[Name, PartShare] = Field(default_factory=dict)
    """Share taken off a provider's listed prices; own prices are what they are."""
