"""Rows of devices, models and rates of failure."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import PRECISIONS, Device, FailureRate, Mla, Model, Vision
from rlopt.facts.files.cells import Row, number, whole


def device(row: Row, sources: Mapping[str, str]) -> Device:
    """Read one GPU type; a blank peak stays absent."""
    return Device(
        name=row["name"],
        family=row["family"],
        generation=row["generation"],
        memory_gib=float(row["memory_gib"]),
        bandwidth_gb_s=float(row["bandwidth_gb_s"]),
        tflops={key: float(row[key]) for key in PRECISIONS if row.get(key)},
        link_gb_s=number(row["link_gb_s"]),
        link_type=row["link_type"],
        pcie_gen=whole(row["pcie_gen"]),
        power_w=number(row["power_w"]),
        source=sources[row["source"]],
        notes=row["notes"],
    )


def families(rows: tuple[Row, ...]) -> dict[str, tuple[str, ...]]:
    """Gather the words that a request may use for GPUs: a family, an extra word, or the exact name.

    A family name wins over the exact name of one of its forms: A100-80GB means the PCIe card as well.
    """
    found: dict[str, list[str]] = {}
    for row in rows:
        for word in (row["family"], *filter(None, row["words"].split("|"))):
            members = found.setdefault(word.lower(), [])
            if row["name"] not in members:
                members.append(row["name"])
    for row in rows:
        found.setdefault(row["name"].lower(), [row["name"]])
    return {word: tuple(members) for word, members in found.items()}


def model(row: Row, sources: Mapping[str, str]) -> Model:
    """Read one model."""
    mla = vision = None
    if row["mla_kv_lora"]:
        widths = (int(row[f"mla_{field}"]) for field in ("kv_lora", "qk_nope", "qk_rope", "v_dim"))
        mla = Mla(whole(row["mla_q_lora"]), *widths)
    if row["vision_layers"]:
        sizes = {name: int(row[f"vision_{name}"]) for name in ("layers", "hidden", "ffn", "heads", "patch", "merge")}
        vision = Vision(**sizes, params=float(row["vision_params"]))
    return Model(
        name=row["name"],
        hf_id=row["hf_id"],
        params=float(row["params"]),
        active_params=float(row["active_params"]),
        layers=int(row["layers"]),
        hidden=int(row["hidden"]),
        heads=int(row["heads"]),
        kv_heads=int(row["kv_heads"]),
        head_dim=int(row["head_dim"]),
        ffn=int(row["ffn"]),
        gated=row["gated"] == "1",
        vocab=int(row["vocab"]),
        experts=int(row["experts"]),
        active_experts=int(row["active_experts"]),
        expert_ffn=int(row["expert_ffn"]),
        shared_expert_ffn=int(row["shared_expert_ffn"]),
        dense_layers=int(row["dense_layers"]),
        tie_embeddings=row["tie_embeddings"] == "1",
        qkv_bias=row["qkv_bias"] == "1",
        mla=mla,
        attention_layers=float(row["attention_layers"]),
        window=whole(row["window"]),
        vision=vision,
        params_basis=row["params_basis"],
        source=sources[row["source"]],
        bias=row["bias"] == "1",
        positions=int(row["positions"]),
    )


def failure_rate(row: Row, sources: Mapping[str, str]) -> FailureRate:
    """Read one rate of failure or reclaim."""
    return FailureRate(
        id=row["id"],
        provider=row["provider"],
        device=row["device"],
        pricing=row["pricing"],
        kind=row["kind"],
        per_gpu_hour=number(row["per_gpu_hour"]),
        per_node_hour=number(row["per_node_hour"]),
        low=float(row["low"]),
        high=float(row["high"]),
        source=sources[row["source"]],
        note=row["note"],
    )
