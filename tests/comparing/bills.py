"""A plan whose bill a person can add up, and bills against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlopt.answers.plan import Plan
from rlopt.measured.bill import BillRow, read_bill
from tests.reports import plans

LINES = (
    ("compute", "pool train", 200.0),  # 10 h at 20 USD/h, one run
    ("compute", "pool rollout", 100.0),  # 10 h at 10 USD/h
    ("compute", "tuning trials", 300.0),  # a second run
    ("compute", "teacher training", 15.0),  # done before the job
    ("operations", "loss to failures", 60.0),  # 1 h of both pools in each run
    ("operations", "setup", 45.0),
    ("storage", "recent checkpoints", 40.0),
    ("storage", "dataset", 10.0),
    ("network", "final weights", 5.0),
)


def planned(**changes: Any) -> Plan:
    """Two runs of 11 h, lost hours included, on 8 GPUs that train and 4 that sample: 775 USD."""
    tree = plans.optimal().model_dump(mode="json", by_alias=True)
    pool = tree["pools"][0]
    train = pool | {"name": "train", "usd_per_hour": 20.0}
    rollout = pool | {"name": "rollout", "usd_per_hour": 10.0, "gpus": 4, "gpus_per_node": 4}
    lines = [
        {"dimension": dimension, "item": item, "kind": "elastic", "usd": usd, "basis": ""}
        for dimension, item, usd in LINES
    ]
    total = sum(usd for _, _, usd in LINES)
    return Plan.model_validate(
        tree | {"pools": [train, rollout], "cost": {"total_usd": total, "lines": lines}} | changes
    )


def rows(tmp_path: Path, text: str) -> list[BillRow]:
    """Read a bill from text."""
    path = tmp_path / "bill.csv"
    path.write_text(text, encoding="utf-8")
    return read_bill(path)
