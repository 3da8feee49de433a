"""Which keys the format has, told by the records of the request."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rlopt.reading.files.tree import join
from rlopt.request import FILLED_IN, InlineModel, ModelChoice, ModelOption, ModelRef, Request

_WORDS: Final = ("async", "from")
"""Keys that are words of Python: their fields end in an underscore."""


def known_keys(path: str) -> list[str]:
    """List the keys that may stand below a dotted key."""
    model = _model_at(path)
    if model is None:
        return []
    if not path:
        return ["version", "extends", *(n for n in model.model_fields if n not in (*FILLED_IN, "version"))]
    if path == "job.trainable":
        return ["lora_rank", "base", "frozen"]
    if model is ModelOption:
        return list(dict.fromkeys((*ModelOption.model_fields, *InlineModel.model_fields)))
    return [info.alias or name for name, info in model.model_fields.items()]


def field_of(path: str) -> FieldInfo | None:
    """Find the field behind a dotted key; None where there is none."""
    parent, _, name = path.rpartition(".")
    model = _model_at(parent)
    if model is ModelOption and name in InlineModel.model_fields and name not in ModelOption.model_fields:
        return InlineModel.model_fields[name]
    return None if model is None else model.model_fields.get(f"{name}_" if name in _WORDS else name)


def _model_at(path: str) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Request
    for step in path.split(".") if path else []:
        name = step.partition("[")[0]
        info = model.model_fields.get(name) if model is not None else None
        if info is None and model is ModelOption:
            info = InlineModel.model_fields.get(name)
        model = None if info is None else _model_in(info.annotation)
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the record inside an annotation such as ``tuple[Quota, ...]`` or ``Vision | None``."""
    if annotation is ModelRef:
        return InlineModel
    if annotation is ModelChoice:
        return ModelOption
    if typing.get_origin(annotation) is None and isinstance(annotation, type):
        return annotation if issubclass(annotation, BaseModel) else None
    for inner in typing.get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


@cache
def all_keys() -> tuple[str, ...]:
    """List every key of the format, sections first."""
    return tuple(_walk("", Request))


def _walk(path: str, model: type[BaseModel]) -> Iterator[str]:
    inner: list[tuple[str, type[BaseModel]]] = []
    for name in model.model_fields if model is ModelOption else known_keys(path):
        here = join(path, name)
        yield here
        info = field_of(here)
        below = None if info is None else _model_in(info.annotation)
        if below is not None and below is not InlineModel:
            inner.append((here, below))
    for here, below in inner:
        yield from _walk(here, below)
