"""What a machine of one's own costs an hour: what was paid, spread over its life, and what keeps it running.

    USD/h = ((capital - residual) / (years x 8760 h) + 12 x hosting / 8760 h + staff / 8760 h) / utilization
            + power x PUE x price of power

| symbol | column | unit |
|---|---|---|
| capital, residual | ``capital``, ``residual`` | money a machine with its share of racks; what is left at the end |
| years | ``years`` | years until it is replaced |
| hosting | ``hosting_per_month`` | money a machine and month: space, network, maintenance contracts |
| staff | ``staff_per_year`` | money a machine and year |
| utilization | ``utilization`` | share of all hours that some job uses it: the idle ones are paid by the others |
| power | ``power_kw`` | kW that the machine draws while it works |
| PUE | ``pue`` | power of the building for each kW of machines, 1 or more |
| price of power | ``power_price_per_kwh`` | money a kWh |

Straight-line depreciation; every figure is the user's, none has a default. Power of idle hours and interest are not
counted: who wants them adds them to hosting or to the capital.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlopt.pricelists import cells
from rlopt.pricelists.cells import CellError
from rlopt.units import HOURS_PER_YEAR

MONTHS_PER_YEAR: Final = 12.0
COLUMNS: Final = (
    "capital",
    "residual",
    "years",
    "power_kw",
    "pue",
    "power_price_per_kwh",
    "hosting_per_month",
    "staff_per_year",
    "utilization",
)


@dataclass(frozen=True, slots=True)
class Owned:
    """The figures of one machine, in one currency."""

    capital: float
    residual: float
    years: float
    power_kw: float
    pue: float
    power_price_per_kwh: float
    hosting_per_month: float
    staff_per_year: float
    utilization: float

    def price_per_hour(self) -> float:
        """The formula above."""
        written_off = (self.capital - self.residual) / (self.years * HOURS_PER_YEAR)
        hosting = MONTHS_PER_YEAR * self.hosting_per_month / HOURS_PER_YEAR
        staff = self.staff_per_year / HOURS_PER_YEAR
        power = self.power_kw * self.pue * self.power_price_per_kwh
        return (written_off + hosting + staff) / self.utilization + power

    def __str__(self) -> str:
        return (
            f"own machine: ({self.capital:g} - {self.residual:g}) over {self.years:g} years, "
            f"{self.hosting_per_month:g} a month, {self.staff_per_year:g} a year for staff, "
            f"used {self.utilization:.0%} of the time; "
            f"{self.power_kw:g} kW x PUE {self.pue:g} x {self.power_price_per_kwh:g} a kWh"
        )


def states_owned(row: dict[str, str]) -> bool:
    """Whether a row states any figure of a machine of one's own."""
    return any(row.get(column) for column in COLUMNS)


def read_owned(row: dict[str, str]) -> Owned:
    """Read all figures. Raises CellError for the first that is missing or impossible."""
    found = Owned(
        capital=cells.needed(row, "capital", most=1e9),
        residual=cells.needed(row, "residual", most=1e9),
        years=cells.needed(row, "years", least=0.1, most=30.0),
        power_kw=cells.needed(row, "power_kw", most=1e4),
        pue=cells.needed(row, "pue", least=1.0, most=5.0),
        power_price_per_kwh=cells.needed(row, "power_price_per_kwh", most=1e3),
        hosting_per_month=cells.needed(row, "hosting_per_month", most=1e9),
        staff_per_year=cells.needed(row, "staff_per_year", most=1e9),
        utilization=cells.needed(row, "utilization", least=0.01, most=1.0),
    )
    if found.residual > found.capital:
        raise CellError("residual", row["residual"], "more than the machine cost")
    if not 0.0 < found.price_per_hour() <= cells.DEAREST_PER_HOUR:
        reason = f"the machine would cost {found.price_per_hour():,.0f} an hour"
        raise CellError("capital", row["capital"], reason, bad=True)
    return found
