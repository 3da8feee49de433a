"""From printed names to facts: which model a row measured, on which machine.

Printed spellings, machines, and models and GPUs that no plan may use are `Catalog.measured`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from rlopt.facts import Catalog, Device, Model, parameter_count
from rlopt.measured.rows import MeasuredRow

SAME_SHAPE = 0.02
"""Stated parameters within this share of a shape's own count confirm the shape."""
DEFAULT_VOCABULARY = 50304
NEAR_SIZE = 0.2
"""A name that states a size alone is taken as the nearest known model within this share of it."""
SIZE = re.compile(r"(?<![a-z0-9.])(?P<total>\d+(\.\d+)?)b(-a(?P<active>\d+(\.\d+)?)b)?(?![a-z0-9])")
# fmt: off
VARIANT_WORDS = frozenset((
        "instruct", "chat", "base", "hf", "it", "sft", "lora", "qlora", "pretrain", "full", "finetune", "preview",
        "fp8", "nvfp4", "mxfp4", "bf16", "fp4", "awq", "gptq", "int4", "int8", "bnb", "4bit", "2507", "v0.1",
        "reasoning", "thinking", "meta", "moe", "dense",
))
# fmt: on
HEAD_DIM = 128


@dataclass(frozen=True, slots=True)
class MeasuredMachine:
    """A GPU in its machine, as `Hardware.of` takes it; ``node_gbps`` is the network of one machine, Gb/s."""

    device: Device
    gpus_per_node: int
    intra: str
    node_gbps: float | None


def find_machine(row: MeasuredRow, catalog: Catalog) -> MeasuredMachine | str:
    """The machine of a row by its `gpu` and `gpus_per_node` cells, or why it is unknown."""
    printed = row.text("gpu").lower()
    if not printed:
        return "the GPU is not stated"
    for one in catalog.measured.machines:
        if one.printed.fullmatch(printed):
            device = catalog.devices.get(one.device) or catalog.measured.devices[one.device]
            return MeasuredMachine(
                device, int(row.number("gpus_per_node") or one.gpus_per_node), one.intra, one.node_gbps
            )
    found = catalog.devices.get(row.text("gpu"))
    if found is None:
        return f"no facts about the GPU {row.text('gpu')!r}"
    linked = bool(found.link_gb_s)
    return MeasuredMachine(found, int(row.number("gpus_per_node") or 8), "nvlink" if linked else "pcie", None)


def find_model(row: MeasuredRow, catalog: Catalog) -> Model | str:
    """The model of a row by name, corrected by the shape that the row states, or why it is unknown."""
    named = _named(row.text("model"), catalog)
    layers, hidden = row.number("layers"), row.number("hidden")
    if not layers or not hidden:
        return named or f"no shape of the model {row.text('model')!r}"
    if named is not None and (named.layers, named.hidden) == (layers, hidden):
        return named
    if named is not None and named.is_moe and named.hidden == hidden and named.attention_layers < named.layers:
        return named  # a hybrid: its blocks are counted in pairs here
    return _stated(row, int(layers), int(hidden))


def find_both(row: MeasuredRow, catalog: Catalog) -> tuple[Model, MeasuredMachine] | str:
    """The model and the machine of a row, or why one of them is unknown."""
    machine, model = find_machine(row, catalog), find_model(row, catalog)
    if isinstance(machine, str):
        return machine
    return model if isinstance(model, str) else (model, machine)


def _named(printed: str, catalog: Catalog) -> Model | None:
    """By exact spelling, then by what is left without the words of variants, then by size alone."""
    spelling = printed.strip().lower()
    measured = catalog.measured
    for tried in (spelling, spelling.rpartition("/")[2]):
        name = measured.names.get(tried) or catalog.aliases.get(tried)
        if name is not None:
            return catalog.models.get(name) or measured.models[name]
    aliases, names = tuple(catalog.aliases.items()), tuple(measured.names.items())
    name = _plain_names(aliases, tuple(measured.models), names).get(_plain(spelling))
    if name is not None:
        return catalog.models.get(name) or measured.models[name]
    return _of_size(spelling, catalog)


def _plain(spelling: str) -> str:
    words = re.split(r"[^a-z0-9.]+", spelling.rpartition("/")[2])
    return "".join(word for word in words if word not in VARIANT_WORDS)


@lru_cache(maxsize=4)
def _plain_names(
    aliases: tuple[tuple[str, str], ...], models: tuple[str, ...], printed: tuple[tuple[str, str], ...]
) -> Mapping[str, str]:
    """Names by what is left of each spelling; the later of two that leave the same wins."""
    found = {_plain(spelling): name for spelling, name in aliases}
    found |= {_plain(name.lower()): name for name in models}
    return found | {_plain(spelling): name for spelling, name in printed}


def _of_size(spelling: str, catalog: Catalog) -> Model | None:
    """The text model of nearest size where a name says no more than that: 8b, vl-7b, 30b-a3b."""
    found = SIZE.search(spelling)
    if found is None:
        return None
    total, active = float(found["total"]) * 1e9, found["active"] and float(found["active"]) * 1e9
    known = [m for m in catalog.models.values() if m.is_moe == bool(active) and m.vision is None and not m.window]
    near = min(known, key=lambda m: (abs(m.params / total - 1.0), -m.vocab, m.name))
    close = abs(near.params / total - 1.0) <= NEAR_SIZE
    close = close and (not active or abs(near.active_params / active - 1.0) <= 2 * NEAR_SIZE)
    return replace(near, params_basis="nominal") if close else None


def _stated(row: MeasuredRow, layers: int, hidden: int) -> Model | str:
    """A dense model of the row's own shape; feed-forward kind and tied tables follow the stated parameters."""
    stated = (row.number("params_b") or 0.0) * 1e9
    heads = int(row.number("heads") or max(hidden // HEAD_DIM, 1))
    ffn = row.number("ffn_hidden")
    base = Model(
        name=row.text("model"),
        hf_id="",
        params=stated,
        active_params=stated,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=int(row.number("kv_heads") or heads),
        head_dim=hidden // heads,
        ffn=int(ffn or 4 * hidden),
        gated=False,
        vocab=int(row.number("vocab") or DEFAULT_VOCABULARY),
        attention_layers=float(layers),
        tie_embeddings=True,
        params_basis="inline",
        source=row.text("source"),
    )
    forms = [base, replace(base, tie_embeddings=False), replace(base, gated=True, tie_embeddings=False)]
    counts = [parameter_count(form).total for form in forms]
    best = min(range(len(forms)), key=lambda i: abs(counts[i] / stated - 1.0)) if stated else 0
    total = counts[best] if not stated or abs(counts[best] / stated - 1.0) > SAME_SHAPE else stated
    return replace(forms[best], params=total, active_params=total)


__all__ = ["MeasuredMachine", "find_machine", "find_model"]
