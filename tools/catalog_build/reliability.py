"""Rates of failure and of reclaimed spot machines, each with the arithmetic that made it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from rlopt.units import HOURS_PER_DAY, HOURS_PER_MONTH
from tools.catalog_build.tables import Row, Table, cell, read

COLUMNS = (
    "id",
    "provider",
    "device",
    "pricing",
    "kind",
    "per_gpu_hour",
    "per_node_hour",
    "low",
    "high",
    "source",
    "note",
)
GPUS_PER_HOST = 8
#: Half-width of a 95 % interval of a Poisson count, in standard deviations (normal approximation).
Z95 = 1.96
#: Edges of the bands that the Spot Advisor prints, share of machines interrupted in a month. The last band
#: is open: its middle continues the width of the others, its upper end is twice its edge (an assumption).
BANDS = {
    "<5%": (0.0, 0.025, 0.05),
    "5-10%": (0.05, 0.075, 0.10),
    "10-15%": (0.10, 0.125, 0.15),
    "15-20%": (0.15, 0.175, 0.20),
    ">20%": (0.20, 0.225, 0.40),
}


def hazard(share: float) -> float:
    """Rate per hour from the share of machines interrupted in a month: -ln(1 - share) / 730 h."""
    return -math.log1p(-share) / HOURS_PER_MONTH


def _value(rows: list[Row], subject: str, metric: str) -> Row:
    found = [row for row in rows if row["subject"] == subject and row["metric"] == metric]
    if len(found) != 1:
        message = f"reliability.csv: {len(found)} rows for {subject} / {metric}, expected one"
        raise LookupError(message)
    return found[0]


def _failures(rows: list[Row]) -> list[dict[str, object]]:
    """Failures per GPU-hour: H100 and H200 from their fleets, everything else from the worse large fleet."""
    llama = _value(rows, "Llama-3-405B", "GPU-hours per unexpected interruption")
    count = float(_value(rows, "Llama-3-405B", "unexpected interruptions")["value"])
    meta = _value(rows, "Meta (cited by ByteRobust)", "GPU-hours per failure")
    h200 = _value(rows, "H200 cloud cluster", "GPU-hours per failure")
    h200_count = float(_value(rows, "H200 cloud cluster", "failures")["value"])
    opt = _value(rows, "OPT-175B", "host failure rate")
    h100_rate, meta_rate, h200_rate = (1.0 / float(row["value"]) for row in (llama, meta, h200))
    opt_rate = float(opt["value"]) / 100.0 / HOURS_PER_DAY / GPUS_PER_HOST
    made: list[dict[str, object]] = []
    for device, rate, low, high, source, note in (
        (
            "H100-SXM",
            h100_rate,
            h100_rate * (1.0 - Z95 / math.sqrt(count)),
            max(meta_rate, h100_rate * (1.0 + Z95 / math.sqrt(count))),
            llama["source"],
            "1 / 50677 GPU-h (419 unexpected interruptions, 16384 GPUs, 54 days); band: Poisson 95 % of the "
            "count, up to the 44480 GPU-h per failure of arXiv 2509.16293",
        ),
        (
            "H200-SXM",
            h200_rate,
            h200_rate * (1.0 - Z95 / math.sqrt(h200_count)),
            h200_rate * (1.0 + Z95 / math.sqrt(h200_count)),
            _value(rows, "H200 cloud cluster", "failures")["source"],
            "1 / 22853 GPU-h (205 failures, about 1600 GPUs, about 122 days); band: Poisson 95 % of the "
            "count only, fleet size and time are approximate",
        ),
        (
            "any",
            meta_rate,
            h100_rate * (1.0 - Z95 / math.sqrt(count)),
            opt_rate,
            meta["source"],
            "default: 1 / 44480 GPU-h, the worse of two figures of large fleets (the other is 1 / 50677); "
            f"upper end: 1.56 % of hosts a day in bad weeks of OPT-175B / 24 h / {GPUS_PER_HOST} GPUs "
            f"({opt['source']})",
        ),
    ):
        made.append(
            {
                "id": f"failure/any/{device}/any",
                "provider": "any",
                "device": device,
                "pricing": "any",
                "kind": "failure",
                "per_gpu_hour": cell(rate),
                "per_node_hour": "",
                "low": low,
                "high": high,
                "source": source,
                "note": note,
            }
        )
    return made


def _observations(folder: Path, machines: dict[str, str]) -> list[tuple[str, tuple[float, float, float], str]]:
    """Published bands of interruption: GPU, band as shares of a month, source."""
    found = []
    for row in read(folder, "commitments.csv"):
        device = machines.get(f"{row['provider']}/{row['family']}")
        if row["interruption_band"] and device is not None:
            found.append((device, BANDS[row["interruption_band"]], row["source"]))
    for row in read(folder, "reliability.csv"):
        edges = re.match(r"% per month \((\d+)-(\d+)", row["unit"])
        device = {
            "AWS spot p4d (A100)": "A100-40GB",
            "AWS spot p5 (H100)": "H100-SXM",
            "AWS spot L4": "L4",
        }.get(row["subject"])
        if row["metric"] == "interruption band" and edges and device:
            low, high = float(edges[1]) / 100.0, float(edges[2]) / 100.0
            found.append((device, (low, float(row["value"]) / 100.0, high), row["source"]))
    return found


def _reclaims(folder: Path, machines: dict[str, str]) -> list[dict[str, object]]:
    """Reclaimed spot machines per node-hour, by GPU; the mean of all stands for what nobody publishes."""
    observations = _observations(folder, machines)
    groups: dict[str, list[tuple[tuple[float, float, float], str]]] = defaultdict(list)
    for device, band, source in observations:
        groups[device].append((band, source))
        groups["any"].append((band, source))
    made: list[dict[str, object]] = []
    for device, members in sorted(groups.items()):
        rates = [hazard(band[1]) for band, _ in members]
        note = (
            f"mean over {len(members)} published monthly bands (machine types and regions) of "
            "-ln(1 - middle) / 730 h; the open band above 20 % is taken at 22.5 %, its upper end at 40 %"
        )
        for provider in ("aws", "any") if device == "any" else ("aws",):
            made.append(
                {
                    "id": f"reclaim/{provider}/{device}/spot",
                    "provider": provider,
                    "device": device,
                    "pricing": "spot",
                    "kind": "reclaim",
                    "per_gpu_hour": "",
                    "per_node_hour": cell(fmean(rates)),
                    "low": min(hazard(band[0]) for band, _ in members),
                    "high": max(hazard(band[2]) for band, _ in members),
                    "source": " ; ".join(sorted({source for _, source in members})),
                    "note": note if provider == "aws" else f"default: AWS alone publishes bands; {note}",
                }
            )
    return made


def build(folder: Path, machines: dict[str, str]) -> Table:
    """Build the reliability catalog.

    Parameters
    ----------
    machines
        Machine key (``provider/instance_type``) to the name of its GPU.
    """
    table = Table("reliability.csv", COLUMNS)
    table.rows = [*_failures(read(folder, "reliability.csv")), *_reclaims(folder, machines)]
    table.rows.sort(key=lambda row: str(row["id"]))
    return table
