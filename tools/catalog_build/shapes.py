"""Machine types: what a provider is known to rent, with the node network mended."""

from __future__ import annotations

from pathlib import Path

from tools.catalog_build.tables import Row, Table, cell, join, optional, read

COLUMNS = (
    "key",
    "provider",
    "instance_type",
    "aliases",
    "device",
    "gpus",
    "intra",
    "vcpus",
    "host_memory_gib",
    "local_disk_gib",
    "internode_gbps",
    "cluster",
    "max_nodes",
    "grade",
    "source",
    "notes",
)
CLUSTER = {"y": "yes", "n": "no", "unknown": "unknown"}


def key(row: Row) -> str:
    """Name a machine type: ``provider/instance_type``."""
    return f"{row['provider']}/{row['canonical_name']}"


def whole_gpus(row: Row) -> int | None:
    """Return the number of GPUs, nothing for a share of one."""
    count = optional(row["gpu_count"])
    return int(count) if count is not None and count >= 1 and count == int(count) else None


def intra_node(row: Row, gpus: int) -> str:
    """Link inside the machine. Cards of a market have no stated link; xGMI joins all GPUs of an AMD board."""
    if gpus == 1:
        return "none"
    if row["grade"] == "marketplace":
        return "pcie"
    if row["intra_node"]:
        return row["intra_node"]
    return "nvlink" if "xGMI" in row["notes"] else "pcie"


def _network(folder: Path) -> dict[tuple[str, str], Row]:
    """Node networks by exact machine name, the mending table last."""
    rows = (*read(folder, "instances_network.csv"), *read(folder, "instances_network_patch.csv"))
    return {(row["provider"], row["instance_type"]): row for row in rows}


def refusal(row: Row, devices: set[str]) -> str:
    """Say why a collected machine is not carried over; nothing where it may be."""
    if not row["canonical_name"]:
        return "average or resale card without a machine behind it"
    if whole_gpus(row) is None:
        return "machine with a share of a GPU"
    if row["gpu"] not in devices:
        return "machine with a GPU whose facts are missing"
    return ""


def candidates(folder: Path, devices: set[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Split the collected machines: those that may be carried with their GPUs, the others with the reason."""
    rows = read(folder, "shapes.csv")
    reasons = {key(row): refusal(row, devices) for row in rows}
    machines = {key(row): whole_gpus(row) or 0 for row in rows if not reasons[key(row)]}
    return machines, {name: reason for name, reason in reasons.items() if reason}


def build(folder: Path, devices: set[str], sources: dict[str, str]) -> Table:
    """Build the machine catalog.

    Parameters
    ----------
    devices
        Names of the device catalog; a machine with another GPU is left out and counted.
    sources
        Machine key to the source of one of its prices; a machine without a price is left out and counted.
    """
    table = Table("shapes.csv", COLUMNS)
    network = _network(folder)
    for row in read(folder, "shapes.csv"):
        reason = refusal(row, devices) or ("" if key(row) in sources else "machine without a price")
        if reason:
            table.leave_out(reason)
            continue
        link = network.get((row["provider"], row["canonical_name"]))
        table.rows.append(_shape(row, whole_gpus(row) or 0, link, sources[key(row)]))
    table.rows.sort(key=lambda row: str(row["key"]))
    return table


def _shape(row: Row, gpus: int, link: Row | None, source: str) -> dict[str, object]:
    gbps, cluster = optional(row["internode_gbps"]), CLUSTER[row["cluster_capable"]]
    notes = row["notes"]
    if link is not None:
        known = optional(link["internode_gbps"])
        if known is not None and gbps is not None and known != gbps:
            notes = join(notes, f"node network {cell(known)} Gb/s in another table: the lower stands")
        gbps = known if gbps is None else gbps if known is None else min(gbps, known)
    if row["grade"] == "marketplace":
        cluster = "no"
    return {
        "key": key(row),
        "provider": row["provider"],
        "instance_type": row["canonical_name"],
        "aliases": "|".join(sorted(set(filter(None, row["aliases"].split("|"))) - {row["canonical_name"]})),
        "device": row["gpu"],
        "gpus": gpus,
        "intra": intra_node(row, gpus),
        "vcpus": row["vcpus"],
        "host_memory_gib": row["memory_gib"],
        "local_disk_gib": row["local_disk_gib"],
        "internode_gbps": cell(gbps),
        "cluster": cluster,
        "max_nodes": row["max_nodes_known"],
        "grade": row["grade"],
        "source": row["source"] or source,
        "notes": notes,
    }
