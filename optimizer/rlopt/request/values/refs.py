"""Which neural networks a job names: by catalog name, by file, by keyword or by inline shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from rlopt.request.values.kinds import Count, Name, Switch, Whole, WholeOrZero, is_written, refuse, show
from rlopt.request.values.model_size import SharedValue
from rlopt.strict import Strict

KEYWORDS: Final = ("policy", "none", "rule")
PATH_SUFFIXES: Final = (".json",)
Parameters = Annotated[int, Count(1000, example="7.6e9")]


class InlineMla(Strict):
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): widths per head or latent."""

    q_lora: Whole | None = None
    """Width of the compressed queries; left out where queries are not compressed."""
    kv_lora: Whole
    """Width of the compressed keys and values: what the cache holds per token, with qk_rope."""
    qk_nope: Whole
    """Width per head of queries and keys without position."""
    qk_rope: Whole
    """Width of the rotary part of queries and keys."""
    v_dim: Whole
    """Width per head of the values."""


class InlineModel(Strict):
    """A model given by its shape; `params` wins for weights and FLOPs, the shape for the rest."""

    name: Name = "inline"
    """Name that reports print."""
    params: Parameters | None = None
    """All weights; derived from the shape when left out."""
    active_params: Parameters | None = None
    """Weights that one token passes through; derived from the shape when left out."""
    layers: Whole
    """Transformer blocks."""
    hidden: Whole
    """Width of the residual stream."""
    heads: Whole
    """Query heads."""
    kv_heads: Whole
    """Key and value heads; `heads` when left out."""
    head_dim: Whole
    """Width of one head; hidden / heads when left out."""
    ffn: WholeOrZero
    """Width of the dense feed-forward block; may be left out (0) in a mixture of experts."""
    gated: Switch = True
    """Three feed-forward matrices (SwiGLU and the like) instead of two."""
    vocab: Whole
    """Rows of the embedding table."""
    experts: WholeOrZero = 0
    """Routed experts per layer; 0 is a dense model."""
    active_experts: WholeOrZero = 0
    """Routed experts that a token visits."""
    expert_ffn: WholeOrZero = 0
    """Width of one expert."""
    shared_expert_ffn: WholeOrZero = 0
    """Total width of the experts that every token visits."""
    mla: InlineMla | None = None
    """Multi-head latent attention, where the model has it."""
    tie_embeddings: Switch = False
    """The output layer shares the embedding table."""
    vlm_params: Parameters | None = None
    """Weights of the vision-language part (vla)."""
    action_params: Parameters | None = None
    """Weights of the action expert or head (vla)."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        filled = dict(value)
        heads, hidden = filled.get("heads"), filled.get("hidden")
        if type(heads) is int and heads > 0:  # anything else is complained about where it stands
            if filled.get("kv_heads") is None:
                filled["kv_heads"] = heads
            if filled.get("head_dim") is None and type(hidden) is int and hidden % heads == 0:
                filled["head_dim"] = hidden // heads
        if filled.get("ffn") is None and filled.get("experts"):
            filled["ffn"] = 0
        return filled

    @model_validator(mode="after")
    def _agrees(self) -> InlineModel:
        if self.experts and not (self.active_experts and self.expert_ffn):
            message = f"{self.experts} experts need active_experts and expert_ffn"
            raise refuse(message, "experts, active_experts and expert_ffn together", "add the missing ones")
        if self.active_experts > self.experts:
            message = f"{self.active_experts} active of {self.experts} experts"
            fix = f"write experts: {self.active_experts} or more"
            raise refuse(message, "active_experts at most experts", fix)
        if not self.experts and not self.ffn:
            message = "ffn is 0 and there are no experts"
            raise refuse(message, "a feed-forward width of 1 or more", "give ffn")
        if self.kv_heads > self.heads or self.heads % self.kv_heads:
            message = f"{self.heads} heads cannot share {self.kv_heads} kv_heads"
            raise refuse(message, "kv_heads that divide heads", f"write kv_heads: {self.heads}")
        if self.params is not None and self.active_params is not None and self.active_params > self.params:
            message = f"active_params {self.active_params} exceeds params {self.params}"
            raise refuse(message, "active_params at most params", "swap or correct them")
        parts = (self.vlm_params or 0) + (self.action_params or 0)
        if self.params is not None and parts > self.params * 1.05:
            message = f"vlm_params + action_params = {parts} exceed params {self.params}"
            raise refuse(message, "parts that add up to params", f"write params: {parts}")
        return self


class ModelRef(Strict):
    """A reference to a model; exactly one of the fields is set."""

    name: Name | None = None
    """Catalog id, hub address or alias."""
    path: Name | None = None
    """A Hugging Face config.json, absolute once read."""
    keyword: Literal["policy", "none", "rule"] | None = None
    """policy: the same weights as the policy; none: no such role; rule: a program scores, no model."""
    inline: InlineModel | None = None
    """The shape itself."""
    shared: SharedValue | None = None
    """A head on the policy's frozen backbone (value)."""

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any, info: ValidationInfo) -> Any:
        return ModelRef.as_written(value, info)

    @staticmethod
    def as_written(value: Any, info: ValidationInfo) -> Any:
        """Read a name, a path, a keyword or inline fields as the record's own fields."""
        if isinstance(value, str):
            text = value.strip()
            if text in KEYWORDS:
                return {"keyword": text}
            return {"path": text} if text.endswith(PATH_SUFFIXES) else {"name": text}
        if isinstance(value, Mapping):
            own = {"name", "path", "keyword", "inline", "shared"}
            canonical = not is_written(info) and set(value) <= own
            if canonical:
                return value
            return {"shared": value} if "share" in value else {"inline": value}
        if isinstance(value, ModelRef):
            return value
        message = f"{show(value)} is not a model"
        raise refuse(
            message,
            "a catalog name, a path to a config.json, a keyword or inline fields",
            "write for example Qwen/Qwen2.5-7B-Instruct",
        )

    @model_validator(mode="after")
    def _one(self) -> ModelRef:
        self.exactly_one()
        return self

    def exactly_one(self) -> None:
        """Refuse a reference that is none or several things at once."""
        if sum(v is not None for v in (self.name, self.path, self.keyword, self.inline, self.shared)) != 1:
            message = "a model is given by exactly one of name, path, keyword and inline fields"
            raise refuse(message, "one of them", "keep one")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        inline = handler.resolve_ref_schema(handler(InlineModel.__pydantic_core_schema__))
        shared = handler.resolve_ref_schema(handler(SharedValue.__pydantic_core_schema__))
        return {"anyOf": [{"type": "string", "minLength": 1}, inline, shared], "description": cls.__doc__ or ""}

    @property
    def label(self) -> str:
        """Name for messages."""
        if self.shared is not None:
            return f"a head of {self.shared.head:,} weights on the policy's {self.shared.share}"
        return self.name or self.path or self.keyword or (self.inline.name if self.inline else "")

    @property
    def is_model(self) -> bool:
        """Whether a network of its own stands behind it (not a keyword)."""
        return self.keyword is None

    @property
    def is_policy(self) -> bool:
        """Whether it is the policy's own weights."""
        return self.keyword == "policy"

    @property
    def is_none(self) -> bool:
        """Whether the role is left out."""
        return self.keyword == "none"

    @property
    def is_rule(self) -> bool:
        """Whether a program takes the model's place."""
        return self.keyword == "rule"
