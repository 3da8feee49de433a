"""What is trained of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from rlopt.request.values.kinds import Whole, is_written, refuse, show, unique
from rlopt.strict import Strict
from rlopt.words import ModelPart


class Trainable(Strict):
    """What is trained: everything, low-rank adapters, or all but some frozen parts."""

    kind: Literal["full", "lora", "frozen"]
    """full | lora | frozen."""
    lora_rank: Whole | None = None
    """Rank of the adapters on all linear layers (lora)."""
    base: Literal["bf16", "int4"] = "bf16"
    """Precision in which the frozen base weights are held under LoRA."""
    frozen: Annotated[tuple[ModelPart, ...], AfterValidator(unique)] = ()
    """Parts without gradients and optimizer state (frozen)."""

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any, info: ValidationInfo) -> Any:
        allowed = "full, {lora_rank: 32, base: bf16}, or {frozen: [vision, backbone]}"
        if isinstance(value, Trainable):
            return value
        if value == "full":
            return {"kind": "full"}
        if not isinstance(value, Mapping):
            message = f"{show(value)} does not say what is trained"
            raise refuse(message, allowed, "write full or {lora_rank: 32}")
        if "kind" in value and not is_written(info):
            return value
        lora, frozen = "lora_rank" in value or "base" in value, "frozen" in value
        if lora and frozen:
            message = "lora_rank and frozen exclude each other: under LoRA the whole base is frozen"
            raise refuse(message, allowed, "keep one of them")
        if lora and value.get("lora_rank") is None:
            message = "base is given without lora_rank"
            raise refuse(message, allowed, "add lora_rank: 32")
        if frozen and value["frozen"] in ([], ()):
            message = "frozen names no part"
            raise refuse(message, allowed, "write trainable: full")
        if not lora and not frozen and not set(value):
            message = "the map is empty"
            raise refuse(message, allowed, "write full or {lora_rank: 32}")
        return {"kind": "lora" if lora else "frozen", **value}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        fields = handler.resolve_ref_schema(handler(schema))["properties"]
        lora = {k: fields[k] for k in ("lora_rank", "base")}
        lora["lora_rank"] = {"type": "integer", "minimum": 1, "description": "Rank of the adapters."}
        frozen = {"frozen": fields["frozen"] | {"minItems": 1}}
        closed = {"additionalProperties": False}
        return {
            "description": cls.__doc__ or "",
            "anyOf": [
                {"const": "full"},
                {"type": "object", "properties": lora, "required": ["lora_rank"], **closed},
                {"type": "object", "properties": frozen, "required": ["frozen"], **closed},
            ],
        }
