"""Models and switches that a row of Megatron-LM spells as command-line arguments in its notes.

Functional tests print their whole configuration there (``num-experts=8; moe-router-topk=2; ...``); what they leave
out has Megatron's own default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from rlopt.facts import Mla, Model, parameter_count
from rlopt.measured.rows import MeasuredRow

ARGUMENT = re.compile(r"(?:^|[;\s])(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)+|swiglu|optimizer)=(?P<value>[^;]*)")
GPT2_VOCABULARY = 50257
VOCABULARIES = {"nemotron_2_256k": 256000, "llama2tokenizer": 32000}
"""By a part of the tokenizer's name; GPT-2's where none is named."""
DIVISOR = 128
LATENT = Mla(q_lora=None, kv_lora=32, qk_nope=128, qk_rope=64, v_dim=128)
"""Megatron's defaults of multi-latent attention (MLATransformerConfig)."""


def arguments(row: MeasuredRow) -> Mapping[str, str]:
    """Arguments by name, empty where the notes hold none."""
    notes = row.text("notes")
    if "transformer-impl=" not in notes:
        return {}
    return {found["name"]: found["value"].strip() for found in ARGUMENT.finditer(notes)}


def whole(args: Mapping[str, str], name: str, default: int = 0) -> int:
    """An argument as a whole number."""
    value = args.get(name, "")
    return int(value) if value.isdigit() else default


def vocabulary(row: MeasuredRow, args: Mapping[str, str], tp: int) -> int:
    """Entries of the padded table: a multiple of the divisor times tp, as Megatron pads it."""
    stated = row.number("vocab")
    if stated is None:
        named = " ".join(args.get(name, "") for name in ("tokenizer-model", "tokenizer-type")).lower()
        stated = next((size for part, size in VOCABULARIES.items() if part in named), GPT2_VOCABULARY)
    unit = whole(args, "make-vocab-size-divisible-by", DIVISOR) * tp
    return int(-(-stated // unit) * unit)


def model_of(row: MeasuredRow, args: Mapping[str, str]) -> Model | str:
    """The model that the arguments describe, or why they don't."""
    layers, hidden = row.number("layers"), row.number("hidden")
    if "hybrid-layer-pattern" in args or "hybrid-override-pattern" in args:
        return "a hybrid of state-space layers: their memory is not modelled"
    if not layers or not hidden:
        return "layers or hidden size not stated"
    heads = int(row.number("heads") or 0) or max(int(hidden) // 128, 1)
    ffn = int(row.number("ffn_hidden") or 4 * hidden)
    experts = whole(args, "num-experts")
    dim = whole(args, "kv-channels", int(hidden) // heads)
    base = Model(
        name=row.text("model"),
        hf_id="",
        params=0.0,
        active_params=0.0,
        layers=int(layers),
        hidden=int(hidden),
        heads=heads,
        kv_heads=int(row.number("kv_heads") or heads),
        head_dim=dim,
        ffn=ffn,
        gated=args.get("swiglu") == "True",
        vocab=vocabulary(row, args, int(row.number("tp") or 1)),
        experts=experts,
        active_experts=whole(args, "moe-router-topk", 2) if experts else 0,
        expert_ffn=whole(args, "moe-ffn-hidden-size", ffn) if experts else 0,
        shared_expert_ffn=whole(args, "moe-shared-expert-intermediate-size") if experts else 0,
        tie_embeddings="untie-embeddings-and-output-weights" not in args,
        mla=LATENT if args.get("multi-latent-attention") == "True" else None,
        attention_layers=layers,
        params_basis="inline",
        source=row.text("source"),
    )
    count = parameter_count(base)
    return replace(base, params=count.total, active_params=count.active)
