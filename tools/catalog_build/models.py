"""Models: shapes with their parameter counts, and the spellings they are asked for by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlopt.facts import Mla, Model, parameter_count
from tools.catalog_build.tables import Row, Table, cell, read
from tools.catalog_build.vision import vision_parameters

SHAPE = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "vocab",
    "experts",
    "active_experts",
    "expert_ffn",
    "shared_expert_ffn",
    "dense_layers",
    "positions",
)
FLAGS = ("gated", "tie_embeddings", "qkv_bias", "bias")
MLA = ("q_lora", "kv_lora", "qk_nope", "qk_rope", "v_dim")
VISION = ("layers", "hidden", "ffn", "heads", "patch", "merge", "params")
COLUMNS = (
    "name",
    "hf_id",
    "params",
    "active_params",
    "params_basis",
    *SHAPE,
    *FLAGS,
    *(f"mla_{field}" for field in MLA),
    "attention_layers",
    "window",
    *(f"vision_{field}" for field in VISION),
    "source",
)
#: Endings and beginnings that makers add to a name without changing the shape.
ENDINGS = ("-instruct", "-base", "-chat", "-it", "-hf")
BEGINNINGS = ("meta-",)


def _int(row: Row, field: str) -> int:
    return int(float(row.get(field) or 0))


def patched(folder: Path) -> list[Row]:
    """Rows of the collection with single fields mended."""
    rows = {row["model"]: {**row, "gated": "1"} for row in read(folder, "models.csv")}
    for row in rows.values():
        row["shared_expert_ffn"] = row.pop("shared_expert_ffn_total")
    for patch in read(folder, "models_patch.csv"):
        rows[patch["model"]][patch["field"]] = patch["value"]
    return list(rows.values())


def lack(row: Row, missing: dict[str, str]) -> str:
    """Name the fact that a row lacks; nothing where its shape is complete."""
    if row["model"] in missing:
        return missing[row["model"]]
    if not row["vocab"]:
        return "the size of its vocabulary"
    if not row["total_params_b"] and not row.get("countable"):
        return "a parameter count"
    return ""


def shape_of(row: Row) -> Model:
    """Turn a row into a model without sizes."""
    mla = None
    if row["mla_kv_lora"]:
        widths = (_int(row, f"mla_{field}") for field in MLA[1:])
        mla = Mla(_int(row, "mla_q_lora") or None, *widths)
    shape: dict[str, Any] = {field: _int(row, field) for field in SHAPE}
    shape.update({field: row.get(field) == "1" for field in FLAGS})
    layers = float(row.get("attention_layers") or shape["layers"])
    return Model(
        name=row["model"],
        hf_id=row["hf_id"],
        params=0.0,
        active_params=0.0,
        **shape,
        mla=mla,
        attention_layers=layers,
        window=_int(row, "window") or None,
        source=row["source"],
    )


def image_tower(row: Row, hidden: int) -> float:
    """Weights of the image tower of a row, 0 without one."""
    if not row["vision_layers"]:
        return 0.0
    single = row.get("vision_single") == "1"
    return vision_parameters(
        layers=_int(row, "vision_layers"),
        hidden=_int(row, "vision_hidden"),
        ffn=_int(row, "vision_ffn"),
        patch=_int(row, "vision_patch"),
        merge=1 if single else _int(row, "vision_merge"),
        out=hidden,
        gated=row.get("vision_gated") == "1",
        frames=_int(row, "vision_frames") or 1,
        mergers=_int(row, "vision_mergers") or 1,
        positions=_int(row, "vision_positions"),
    )


def build(folder: Path) -> tuple[Table, Table, Table]:
    """Build the models, their aliases, and the table of models that lack a fact."""
    missing = {row["model"]: row["lacks"] for row in read(folder, "models_missing.csv")}
    published = {row["model"]: row for row in read(folder, "models_published.csv")}
    table, absent = (
        Table("models.csv", COLUMNS),
        Table("models_left_out.csv", ("name", "hf_id", "lacks", "source")),
    )
    rows = sorted(patched(folder), key=lambda row: row["model"])
    for row in rows:
        reason = lack(row, missing)
        if reason:
            table.leave_out("model that lacks a fact")
            absent.rows.append({"name": row["model"], "hf_id": row["hf_id"], "lacks": reason, "source": row["source"]})
        else:
            table.rows.append(_model(row, published.get(row["model"])))
    return table, _aliases(folder, table.rows), absent


def _model(row: Row, known: Row | None) -> dict[str, object]:
    model = shape_of(row)
    count = parameter_count(model)
    tower = image_tower(row, model.hidden)
    total = float(known["params"]) if known else count.total + tower
    return {
        "name": model.name,
        "hf_id": model.hf_id,
        "params": f"{total:.0f}",
        "active_params": f"{count.active if model.is_moe else total - tower:.0f}",
        "params_basis": "published" if known else "derived",
        **{field: getattr(model, field) for field in SHAPE},
        **{field: int(getattr(model, field)) for field in FLAGS},
        **{f"mla_{field}": row[f"mla_{field}"] for field in MLA},
        "attention_layers": cell(model.attention_layers),
        "window": model.window or "",
        **{f"vision_{field}": row.get(f"vision_{field}", "") for field in VISION[:-1]},
        "vision_params": f"{tower:.0f}" if tower else "",
        "source": f"{row['source']}; parameters: {known['source']}" if known else row["source"],
    }


def spellings(name: str) -> set[str]:
    """Lower-case spellings of one name: with and without the maker, its endings and beginnings."""
    maker, _, bare = name.lower().rpartition("/")
    stems = {bare}
    for ending in ENDINGS:
        stems |= {stem.removesuffix(ending) for stem in set(stems)}
    for beginning in BEGINNINGS:
        stems |= {stem.removeprefix(beginning) for stem in set(stems)}
    if maker == "meta-llama":
        stems |= {beginning + stem for beginning in BEGINNINGS for stem in set(stems)}
    full = stems | {stem + ending for stem in stems for ending in ENDINGS}
    return full | ({f"{maker}/{stem}" for stem in full} if maker else set())


def _aliases(folder: Path, models: list[dict[str, object]]) -> Table:
    """Build the table of spellings; one that a maker uses for a model itself beats one made by rule."""
    table = Table("model_aliases.csv", ("alias", "name"))
    exact: dict[str, str] = {}
    ruled: dict[str, str] = {}
    claims = [(str(row["name"]), str(row[field])) for row in models for field in ("hf_id", "name") if row[field]]
    claims += [(row["model"], row["alias"]) for row in read(folder, "model_aliases.csv")]
    for name, spelling in claims:
        for text in (spelling.lower(), spelling.lower().rpartition("/")[2]):
            exact.setdefault(text, name)
    for name, spelling in claims:
        for text in sorted(spellings(spelling)):
            ruled.setdefault(text, name)
    table.rows = [{"alias": alias, "name": name} for alias, name in sorted({**ruled, **exact}.items())]
    return table
