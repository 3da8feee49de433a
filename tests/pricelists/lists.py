"""Small price files of every format, and what they are read into."""

from __future__ import annotations

from rlopt.facts.files.folder import load_catalog
from rlopt.pricelists.contract import Defaults, PriceList
from rlopt.pricelists.offers import price_list
from rlopt.pricelists.table import PriceTable, parse

SKYPILOT = """\
InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
cpu-d3_4vcpu-16gb,,0,4,16,0.0992,eu-north1,,
gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,16,200,2.95,eu-north1,"{'Gpus': [{'Name': 'H100'}]}",1.25
gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,8.0,128,1600,23.60,eu-north1,"{'Gpus': []}",10.00
gpu-h200-sxm_8gpu-128vcpu-1600gb,H200,8,128,1600,28.00,eu-north1,,11.60
gpu-h200-sxm_8gpu-128vcpu-1600gb,H200,8,128,1600,28.00,us-central1,,11.60
gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,eu-north1,,
"""
"""Rows as in SkyPilot's file of Nebius: 8 offers, and a machine without GPUs."""

GPUHUNT = """\
instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size
p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,
p5.48xlarge,us-east-1,16.51,192,2048.0,8,H100,80.0,True,
m5.large,us-east-1,0.096,2,8.0,0,,,False,
"""

OWN_COLUMNS = (
    "provider,instance_type,gpu,gpus,region,zone,pricing,term_hours,price_per_hour,currency,as_of,source,note,"
    "max_machines,link,host_memory_gib,vcpus,local_disk_gib,node_gbps,capital,residual,years,power_kw,pue,"
    "power_price_per_kwh,hosting_per_month,staff_per_year,utilization"
)


def own(*rows: dict[str, object]) -> str:
    """A price list of one's own; a key that a row lacks is an empty cell."""
    columns = OWN_COLUMNS.split(",")
    base = {"currency": "USD", "as_of": "2026-11-02"}
    lines = [",".join(str({**base, **row}.get(column, "")) for column in columns) for row in rows]
    return "\n".join((OWN_COLUMNS, *lines, ""))


RENTED = {"provider": "aws", "instance_type": "p5.48xlarge", "region": "us-east-1", "price_per_hour": 41.5}
HALL = {
    "provider": "onprem",
    "instance_type": "dgx-h100",
    "gpu": "H100-SXM",
    "gpus": 8,
    "region": "hall-1",
    "max_machines": 4,
    "link": "nvswitch",
    "host_memory_gib": 2048,
    "node_gbps": 3200,
}
FIGURES = {
    "capital": 310000,
    "residual": 30000,
    "years": 4,
    "power_kw": 8.5,
    "pue": 1.3,
    "power_price_per_kwh": 0.11,
    "hosting_per_month": 450,
    "staff_per_year": 9000,
    "utilization": 0.7,
}


def table(text: str | bytes) -> PriceTable:
    """A file's table."""
    return parse(text.encode() if isinstance(text, str) else text, "prices.csv")


def read(text: str | bytes, provider: str | None = None, name: str = "prices", as_of: str = "2026-11-20") -> PriceList:
    """A file's offers, matched to the shipped machines."""
    return price_list(table(text), Defaults(provider, as_of, "prices.csv"), load_catalog(), name)


def reasons(found: PriceList) -> list[tuple[int, str, str]]:
    """(line, column, reason) of every row that gave nothing."""
    return [(row.line, row.column, row.reason) for row in found.left_out]
