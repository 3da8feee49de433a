"""What a format turns a table into: prices as they were stated, and what cannot be used with its place and reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rlopt.facts import Offer
from rlopt.pricelists.table import PriceTable


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a file may leave unsaid: whose prices, of which day (ISO date) and from where (address or file)."""

    provider: str | None
    as_of: str
    source: str


@dataclass(frozen=True, slots=True)
class ListedMachine:
    """What a row states of the machine itself; None where it states nothing.

    Memory and disk in GiB, the network of one machine in Gb/s.
    """

    link: str | None = None
    vcpus: float | None = None
    host_memory_gib: float | None = None
    local_disk_gib: float | None = None
    node_gbps: float | None = None


@dataclass(frozen=True, slots=True)
class StatedPrice:
    """One price as its row states it, before its machine is looked up.

    ``price_per_hour`` is of the whole machine in ``currency``; ``columns`` says in which column a field stood.
    """

    line: int
    provider: str
    instance_type: str
    gpu: str
    gpus: int | None
    region: str | None
    zone: str | None
    pricing: str
    term_hours: float | None
    price_per_hour: float
    currency: str
    as_of: str
    source: str
    note: str = ""
    machine: ListedMachine = ListedMachine()
    max_machines: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that gives no offer: where it stands, the value in the way, and why.

    ``bad`` marks a price that no market has (0, negative, not a number), ``torn`` a row that ends too early.
    """

    file: str
    line: int
    column: str
    value: str
    reason: str
    bad: bool = False
    torn: bool = False

    def __str__(self) -> str:
        shown = f" {self.column} {self.value!r}:" if self.column else ""
        return f"{self.file}:{self.line}:{shown} {self.reason}"


@dataclass(frozen=True, slots=True)
class PriceList:
    """Offers of one file or address, ready to be laid over a catalog."""

    name: str
    format: str
    source: str
    as_of: str
    """Newest date of a price, ISO."""
    own: bool
    """Whether the prices are what their reader pays: no discount is taken off and they stand before any other."""
    rows: int
    """Rows of the file, those that gave nothing included."""
    offers: tuple[Offer, ...]
    zone_offers: tuple[Offer, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    read_on: str = ""
    """Day it was brought in, ISO; empty where it is read anew each time."""


class Format(Protocol):
    """A module of this package that reads one format."""

    @property
    def NAME(self) -> str: ...  # noqa: D102, N802

    @property
    def NEEDED(self) -> tuple[str, ...]:  # noqa: N802
        """Columns that it is told by."""
        ...

    @property
    def OWN(self) -> bool:  # noqa: N802
        """Whether its reader pays these prices."""
        ...

    def read(self, table: PriceTable, defaults: Defaults) -> tuple[list[StatedPrice], list[LeftOut]]:
        """Turn the table's rows into prices; raises InputError where the file as a whole cannot be one of these."""
        ...
