"""GPU types: the collected specification, mended, with unknown peaks left absent."""

from __future__ import annotations

from pathlib import Path

from tools.catalog_build.tables import Row, Table, cell, join, optional, read

PEAKS = {
    "fp32": "fp32_tflops",
    "tf32": "tf32_dense",
    "bf16": "bf16_dense",
    "fp16": "fp16_dense",
    "fp8": "fp8_dense",
    "int8": "int8_dense",
    "fp4": "fp4_dense",
}
COLUMNS = (
    "name",
    "family",
    "generation",
    "words",
    "memory_gib",
    "bandwidth_gb_s",
    *PEAKS,
    "link_gb_s",
    "link_type",
    "pcie_gen",
    "power_w",
    "source",
    "notes",
)
#: Unsettled figures where the mending table is right by its own note: the cloud form of the card.
SETTLED = {("RTX-PRO-6000", "mem_bw_gbps")}


def _mend(gpu: Row, row: Row) -> None:
    """Lay one field over a row; an unsettled field takes the lower of the two figures."""
    old, value, note = gpu.get(row["field"], ""), row["value"], row["note"]
    unsettled = note.startswith("DISAGREE") and (row["gpu"], row["field"]) not in SETTLED
    if old and (unsettled or "keep" in note):
        value = cell(min(float(old), float(value)))
    if value != old:
        gpu[row["field"]] = value
        said = f"{row['field']} {value}: {row['source']}" + (f" ({note})" if note else "")
        gpu["notes"] = join(gpu["notes"], said)


def merged(folder: Path) -> dict[str, Row]:
    """Lay the two mending tables over the base table."""
    gpus = {row["gpu"]: dict(row) for row in read(folder, "gpus.csv")}
    for row in (*read(folder, "gpus_patch.csv"), *read(folder, "gpus_extra.csv")):
        if not row["field"]:
            base = gpus[row["value"]]
            gpus[row["gpu"]] = {**base, "gpu": row["gpu"], "notes": join(base["notes"], row["note"])}
        elif row["value"]:
            blank = {"gpu": row["gpu"], "source_main": row["source"], "notes": ""}
            _mend(gpus.setdefault(row["gpu"], blank), row)
    return gpus


def build(folder: Path) -> Table:
    """Build the device catalog; a GPU without memory size or speed is left out and counted."""
    forms = {row["gpu"]: row for row in read(folder, "gpu_forms.csv")}
    table = Table("devices.csv", COLUMNS)
    for name, gpu in sorted(merged(folder).items()):
        form = forms[name]
        usable = optional(gpu.get("mem_gib_usable", ""))
        memory = usable or optional(gpu.get("mem_gb_marketing", ""))
        bandwidth = optional(gpu.get("mem_bw_gbps", ""))
        if memory is None or bandwidth is None:
            table.leave_out("GPU without memory size or speed")
            continue
        link = optional(gpu.get("link_total_bidir_gbps", ""))
        makers = "" if usable else "memory is the maker's figure, usable size not found"
        table.rows.append(
            {
                "name": name,
                "family": form["family"],
                "generation": form["generation"],
                "words": form["words"],
                "memory_gib": memory,
                "bandwidth_gb_s": bandwidth,
                **{key: gpu.get(column, "") for key, column in PEAKS.items()},
                "link_gb_s": cell(None if link is None else link / 2.0),
                "link_type": gpu.get("link_type", ""),
                "pcie_gen": gpu.get("pcie_gen", ""),
                "power_w": gpu.get("tdp_w", ""),
                "source": gpu["source_main"],
                "notes": join(gpu["notes"], makers),
            }
        )
    return table
