"""A local Hugging Face config.json as a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rlopt.facts import Mla, Model, parameter_count
from rlopt.reading.huggingface.families import FAMILIES, ModelFamily
from rlopt.reading.huggingface.file import ConfigFile

#: The offset that OPT adds to its position table (huggingface.co/docs/transformers/model_doc/opt).
OPT_POSITION_OFFSET = 2


def model_from_config(path: Path) -> Model:
    """Read the shape of a model and count its parameters.

    Parameters
    ----------
    path
        A config.json, or a folder that holds one.

    Returns
    -------
    Model
        With ``params_basis`` of ``config``: sizes are counted from the shape.

    Raises
    ------
    InputError
        When the file is no such configuration, a key is missing or wrong, or the architecture is one whose
        weights can't be counted from the file; all complaints at once, with file, line and key.
    """
    file = ConfigFile(path)
    kind = file.keys.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        fix = "describe the model inline, or name one of the catalog"
        file.complain("model_type", f"is {str(kind)[:40]!r}", ", ".join(sorted(FAMILIES)), fix)
        file.finish()
    model = _shape(file, family or ModelFamily())
    _check(file, model)
    file.finish()
    count = parameter_count(model)
    return replace(model, params=count.total, active_params=count.active)


def _shape(file: ConfigFile, family: ModelFamily) -> Model:
    layers, heads, hidden = (file.whole(key) for key in ("num_hidden_layers", "num_attention_heads", "hidden_size"))
    experts = file.whole(family.experts, default=None) if family.experts else 0
    expert_ffn = file.whole(family.expert_ffn) if family.experts else 0
    mla = _latent(file) if family.mla else None
    head_dim = file.whole("head_dim", default=family.head_dim or max(hidden // heads, 1))
    full_layers, window = _windows(file, family, layers)
    folder = file.path.resolve().parent.name if file.path.name == "config.json" else file.path.stem
    name = file.keys.get("_name_or_path") or folder
    return Model(
        name=str(name),
        hf_id="",
        params=0.0,
        active_params=0.0,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=file.whole("num_key_value_heads", default=heads),
        head_dim=head_dim if mla is None else mla.qk_nope + mla.qk_rope,
        ffn=file.whole(family.ffn) if family.ffn else 0,
        gated=family.gated,
        vocab=file.whole("vocab_size"),
        experts=experts,
        active_experts=file.whole(family.active) if family.experts else 0,
        expert_ffn=expert_ffn,
        shared_expert_ffn=_shared(file, family, expert_ffn),
        dense_layers=_leading(file, family),
        tie_embeddings=file.flag("tie_word_embeddings", family.tie),
        qkv_bias=_qkv_bias(file, family),
        mla=mla,
        attention_layers=full_layers,
        window=window,
        params_basis="config",
        source=str(file.path),
        bias=family.bias,
        positions=_positions(file),
    )


def _qkv_bias(file: ConfigFile, family: ModelFamily) -> bool:
    if family.qkv_bias in ("always", "never"):
        return family.qkv_bias == "always"
    return file.flag(family.qkv_bias, default=False)


def _shared(file: ConfigFile, family: ModelFamily, expert_ffn: int) -> int:
    """Total width of the shared experts."""
    if not family.shared:
        return 0
    value = file.whole(family.shared, default=0, least=0)
    return value * expert_ffn if family.shared == "n_shared_experts" else value


def _leading(file: ConfigFile, family: ModelFamily) -> int:
    """Leading dense layers; experts at intervals can't be written as leading layers."""
    for key in ("decoder_sparse_step", "moe_layer_freq"):
        if family.experts and file.whole(key, default=1) != 1:
            file.complain(key, "experts in only some of the layers are not supported", "1")
    dense = file.keys.get("mlp_only_layers") or []
    if family.experts and dense:
        if isinstance(dense, list) and dense == list(range(len(dense))):
            return len(dense)
        file.complain("mlp_only_layers", "dense layers that don't lead are not supported", "[0, 1, ...]")
    return file.whole(family.leading, default=0, least=0) if family.leading else 0


def _latent(file: ConfigFile) -> Mla:
    rank = file.keys.get("q_lora_rank")
    return Mla(
        q_lora=None if rank is None else file.whole("q_lora_rank"),
        kv_lora=file.whole("kv_lora_rank"),
        qk_nope=file.whole("qk_nope_head_dim"),
        qk_rope=file.whole("qk_rope_head_dim"),
        v_dim=file.whole("v_head_dim"),
    )


def _positions(file: ConfigFile) -> int:
    """Learned positions: OPT alone has them among the supported families."""
    if file.keys.get("model_type") != "opt":
        return 0
    return file.whole("max_position_embeddings") + OPT_POSITION_OFFSET


def _windows(file: ConfigFile, family: ModelFamily, layers: int) -> tuple[float, int | None]:
    """Layers with full attention, and the window of the others (``None`` without windowed layers)."""
    kinds = file.keys.get("layer_types")
    if kinds is not None:
        known = ("full_attention", "sliding_attention")
        if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in known for kind in kinds):
            file.complain("layer_types", "names other layers than the model has", f"{layers} of {', '.join(known)}")
            return float(layers), None
        full = sum(kind == "full_attention" for kind in kinds)
        return float(full), file.whole("sliding_window") if full < layers else None
    window = file.keys.get("sliding_window")
    if not family.windows or window is None:
        return float(layers), None
    if family.windows == "flag" and not file.flag("use_sliding_window", default=False):
        return float(layers), None
    full = {
        "flag": min(file.whole("max_window_layers", default=layers, least=0), layers),
        "all": 0,
        "half": layers // 2,
        "pattern": layers // file.whole("sliding_window_pattern", default=6),
    }[family.windows]
    size = file.whole("sliding_window")
    if family.windows == "all" and size >= file.whole("max_position_embeddings", default=size + 1):
        return float(layers), None
    return float(full), size if full < layers else None


def _check(file: ConfigFile, model: Model) -> None:
    """Complain about numbers that don't go together."""
    if model.kv_heads > model.heads or model.heads % model.kv_heads:
        file.complain("num_key_value_heads", f"is {model.kv_heads}", f"a divisor of {model.heads} attention heads")
    if "head_dim" not in file.keys and model.mla is None and model.hidden % model.heads:
        file.complain("num_attention_heads", f"is {model.heads}", f"a divisor of hidden_size {model.hidden}")
    if model.active_experts > model.experts:
        file.complain("num_experts_per_tok", f"is {model.active_experts}", f"up to {model.experts} experts")
    if model.dense_layers > model.layers:
        file.complain("first_k_dense_replace", f"is {model.dense_layers}", f"up to {model.layers} layers")
    width = file.keys.get("word_embed_proj_dim")
    if width is not None and width != model.hidden:
        file.complain("word_embed_proj_dim", f"is {str(width)[:40]!r}", f"hidden_size, {model.hidden}")
