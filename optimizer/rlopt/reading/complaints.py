"""From pydantic's findings to complaints: file and line, dotted key, what is allowed, one fix."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from rlopt.errors import Complaint
from rlopt.reading.tree import Places, join
from rlopt.request import InlineModel, ModelRef, Request, Source
from rlopt.request.kinds import show

MOST: Final = 100
"""More complaints than this help nobody."""
UNWRITTEN: Final = ("presets", "reasons", "floor_origins", "source")
"""Fields of a request that reading fills in; no file sets them."""
EXAMPLES: Final[Mapping[str, str]] = {
    "job": "{algorithm: grpo, ...}",
    "job.algorithm": "grpo",
    "job.models": "{policy: Qwen/Qwen2.5-7B-Instruct}",
    "job.models.policy": "Qwen/Qwen2.5-7B-Instruct",
    "job.prompts_per_step": "128",
    "job.prompt_tokens": "{mean: 180, max: 1024}",
    "job.response_tokens": "{mean: 1500, max: 8192}",
    "job.convergence": "{8: 700, 16: 600}",
    "job.trajectory": "{mean: 60s, max: 120s}",
    "job.tags": "{project: math}",
    "job.evaluation": "{every: 50, samples: 500}",
    "job.environment": "{kind: tools, calls_per_sample: {...}, seconds_per_call: {...}}",
    "job.trajectory.mean": "60s",
    "job.trajectory.max": "120s",
    "job.environment.seconds_per_call.mean": "2s",
    "job.environment.seconds_per_call.max": "30s",
    "job.environment.calls_per_sample.mean": "2",
    "job.environment.calls_per_sample.max": "8",
    "job.environment.calls_per_sample": "{mean: 2, max: 8}",
    "job.environment.seconds_per_call": "{mean: 2s, max: 30s}",
    "job.vision": "{image_size: 224, tokens_per_image: 64}",
    "job.action": "{head: flow, flow_steps: 10, chunk: 50, frequency: 50 Hz}",
    "choices.precision": "{rollout: [bf16, fp8], update: [bf16]}",
    "choices.discounts": "{aws: 0.1}",
    "limits.quotas": "[{provider: aws, gpu: H100, max_gpus: 16}]",
    "floors.checkpoints": "{keep_recent: 2, keep_best: 1}",
    "costs.keep_for": "{checkpoints: 720h, logs: 720h}",
    "costs.exchange_rates": "{CNY: 0.14 USD}",
    "costs.setup_hours": "{colocated: 4, disaggregated: 12, async: 16}",
}
"""How a key is written, for fixes."""
EXAMPLES_BY_NAME: Final[Mapping[str, str]] = {
    "mean": "180",
    "max": "1024",
    "max_gpus": "16",
    "image_size": "224",
    "head": "flow",
    "chunk": "50",
    "frequency": "50 Hz",
    "kind": "tools",
    "every": "50",
    "samples": "500",
    "layers": "28",
    "hidden": "3584",
    "heads": "28",
    "kv_heads": "4",
    "head_dim": "128",
    "ffn": "18944",
    "vocab": "152064",
    "kv_lora": "512",
    "qk_nope": "128",
    "qk_rope": "64",
    "v_dim": "128",
}
"""How a key of this name is written anywhere (the shape is Qwen2.5-7B's, the latent DeepSeek-V3's)."""
_FOLLOWS: Final[Mapping[str, tuple[str, ...]]] = {"kv_heads": ("heads",), "head_dim": ("heads", "hidden")}
"""Fields that are completed from others: not missed where those are missing."""


def complaints_of(error: ValidationError, tree: Any, places: Places, file: str) -> list[Complaint]:
    """Turn every finding of a validation into a complaint."""
    source = Source(places, file)
    found = list(error.errors(include_url=False))[: MOST * 2]
    unknown = {_typo(finding, tree) for finding in found if finding["type"] == "extra_forbidden"}
    wrong = {_dotted(finding["loc"], tree) for finding in found}
    complaints = []
    for finding in found:
        key = _dotted(finding["loc"], tree)
        if _is_said(finding["type"], key, unknown, wrong):
            continue
        message, allowed, fix = _words(finding, key)
        complaints.append(Complaint(*source.locate(key), key, message, allowed, fix))
    return complaints[:MOST]


def _is_said(kind: str, key: str, unknown: Set[str], wrong: Set[str]) -> bool:
    """Tell whether another complaint is the cause: a misspelt key, a fault in a list, a missing part."""
    parent, _, name = key.rpartition(".")
    if kind == "missing":
        return key in unknown or any(join(parent, other) in wrong for other in _FOLLOWS.get(name, ()))
    return kind == "too_short" and any(other.startswith(f"{key}[") for other in wrong)


def ordered(complaints: Sequence[Complaint], file: str) -> list[Complaint]:
    """Sort complaints by place, drop repeats and what a blank key says already, and cut them at `MOST`."""
    blank = {c.key for c in complaints if c.message == "has no value"}
    kept = [c for c in dict.fromkeys(complaints) if not (c.key in blank and c.message == "is missing")]
    kept.sort(key=lambda c: (c.file != file, c.file or "", c.line or 0))
    if len(kept) > MOST:
        rest = len(kept) - MOST
        kept = [
            *kept[:MOST],
            Complaint(file, None, "", f"and {rest} more faults of this kind", "", "mend these first"),
        ]
    return kept


def unknown_key(path: str, known: Sequence[str]) -> tuple[str, str, str]:
    """Word the complaint about a key that does not exist."""
    parent, _, name = path.rpartition(".")
    near = get_close_matches(name[:60], known, 1, 0.6)
    if near:
        fix = f"did you mean {near[0]}?"
    else:
        elsewhere = [key for key in _all_keys() if key.rpartition(".")[2] == name and key != path]
        fix = f"it belongs to {elsewhere[0]}" if elsewhere else "delete it"
    place = f"in {parent}" if parent else "at the top of the file"
    return f"unknown key {place}", f"one of {', '.join(known)}" if known else "no keys", fix


def _words(finding: Any, key: str) -> tuple[str, str, str]:
    """Word one finding: message, allowed, fix."""
    kind, value = finding["type"], finding["input"]
    context = finding.get("ctx", {})
    example = EXAMPLES.get(key)
    if kind == "rlopt":
        fix = context["fix"]
        better = example and fix.startswith("write for example")
        return context["text"], context["allowed"], f"write for example {example}" if better else fix
    if kind in ("extra_forbidden", "invalid_key"):
        return unknown_key(key, _known(key.rpartition(".")[0]))
    name = key.rpartition(".")[2]
    if kind == "missing":
        info, example = _field(key), example or EXAMPLES_BY_NAME.get(name)
        fix = f"add {name}: {example}" if example else f"add {name}"
        return "is missing", (info.description or "a value").strip() if info else "a value", fix
    if kind in ("literal_error", "enum"):
        words = [word.strip().strip("'") for word in context["expected"].replace(" or ", ",").split(",")]
        near = get_close_matches(str(value)[:60], words, 1, 0.4)
        return (
            f"{show(value)} is not known here",
            f"one of {', '.join(words)}",
            f"write {near[0]}" if near else f"write one of these, for example {words[0]}",
        )
    if kind in ("tuple_type", "list_type"):
        fix = (
            f"write {example}"
            if example
            else f"write [{value}]"
            if isinstance(value, (str, int))
            else "write [...]"
        )
        return f"{show(value)} is not a list", "a list", fix
    if kind == "too_short":
        return (
            "the list is empty: nothing could be chosen",
            "at least one entry",
            "add one, or delete the key for all",
        )
    if kind in ("model_type", "dict_type", "model_attributes_type", "mapping_type"):
        known = _known(key)
        allowed = f"a map with {', '.join(known)}" if known else "a map"
        first = f"{{{known[0]}: ...}}" if known else "{...}"
        return f"{show(value)} is not a map", allowed, f"write {example or first}"
    return f"{show(value)}: {finding['msg']}", "see rlopt schema", "correct it"


def _typo(finding: Any, tree: Any) -> str:
    """Give the known key that a misspelt one most likely means."""
    path = _dotted(finding["loc"], tree)
    parent, _, name = path.rpartition(".")
    near = get_close_matches(name[:60], _known(parent), 1, 0.6)
    return join(parent, near[0]) if near else ""


def _dotted(loc: Sequence[str | int], tree: Any) -> str:
    """Spell a location as the file spells it: list indices in brackets, no internal steps."""
    path = ""
    for index, step in enumerate(loc):
        if step == "[key]" or (index == 3 and step == "inline" and path.startswith("job.models.")):
            continue
        if isinstance(tree, (list, tuple)) and isinstance(step, int):
            path = f"{path}[{step}]"
            tree = tree[step] if step < len(tree) else None
        else:
            path = join(path, step)
            tree = tree.get(step) if isinstance(tree, Mapping) else None
    return path


def _known(path: str) -> list[str]:
    """List the keys that may stand below a dotted key."""
    model = _model_at(path)
    if model is None:
        return []
    if not path:
        return ["version", "extends", *(n for n in model.model_fields if n not in (*UNWRITTEN, "version"))]
    if path == "job.trainable":
        return ["lora_rank", "base", "frozen"]
    return [info.alias or name for name, info in model.model_fields.items()]


def _field(path: str) -> FieldInfo | None:
    parent, _, name = path.rpartition(".")
    model = _model_at(parent)
    return None if model is None else model.model_fields.get("async_" if name == "async" else name)


def _model_at(path: str) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Request
    for step in path.split(".") if path else []:
        name = step.partition("[")[0]
        info = model.model_fields.get(name) if model is not None else None
        model = None if info is None else _model_in(info.annotation)
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Find the record inside an annotation such as ``tuple[Quota, ...]`` or ``Vision | None``."""
    if annotation is ModelRef:
        return InlineModel
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    for inner in typing.get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


@cache
def _all_keys() -> tuple[str, ...]:
    """List every key of the format, sections first."""
    return tuple(_walk("", Request))


def _walk(path: str, model: type[BaseModel]) -> Iterator[str]:
    inner: list[tuple[str, type[BaseModel]]] = []
    for name in _known(path):
        here = join(path, name)
        yield here
        info = _field(here)
        below = None if info is None else _model_in(info.annotation)
        if below is not None and below is not InlineModel:
            inner.append((here, below))
    for here, below in inner:
        yield from _walk(here, below)
