"""What measurements call models and machines: the folder ``measured`` of the catalogs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from rlopt.facts import MeasuredNames, PrintedMachine
from rlopt.facts.files.cells import Row, records
from rlopt.facts.files.devices import device, model


class _Verbatim(Mapping[str, str]):
    """Sources as written in the cell."""

    def __getitem__(self, key: str) -> str:
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def measured_names(folder: Path) -> MeasuredNames:
    """Read the four files of the folder."""
    models = records(folder, "models.csv", lambda row: model(row, _Verbatim()))
    devices = records(folder, "devices.csv", lambda row: device(row, _Verbatim()))
    return MeasuredNames(
        models={one.name: one for one in models},
        devices={one.name: one for one in devices},
        names=dict(records(folder, "names.csv", lambda row: (row["printed"], row["model"]))),
        machines=records(folder, "machines.csv", _machine),
    )


def _machine(row: Row) -> PrintedMachine:
    pattern, gpus = re.compile(row["printed"]), int(row["gpus_per_node"])
    return PrintedMachine(pattern, row["device"], gpus, row["intra"], float(row["node_gbps"]))
