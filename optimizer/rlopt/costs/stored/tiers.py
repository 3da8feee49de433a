"""What a storage tier charges for bytes that stay in it, and the tier that charges least.

USD = Σ GB · price [USD/GB/h] · max(hours, minimum duration) / (1 - free share)
      + GB written · upload + GB read · (retrieval + egress of a store elsewhere) + requests · their prices

A cold tier is cheap by the hour and dear to leave early or to read, so none is cheapest for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Floats, Ints, Problem
from rlopt.problem.tariff import Tier

Values = Floats | float
"""A number, or numbers by column."""


def added(size: int, values: Iterable[Values]) -> Floats:
    """Sum of ``values`` by column, shape (size,)."""
    total = np.zeros(size)
    for one in values:
        total += one
    return total


def free_share(problem: Problem) -> float:
    """Share of bought storage that stays free."""
    return problem.request.floors.free_storage or 0.0


@dataclass(frozen=True, slots=True)
class Stay:
    """What one kind of bytes asks of a store, over all runs; numbers, or arrays of shape (columns,).

    ``hours`` is how long each of the ``gb`` is held, ``brief_hours`` how long each of ``brief_gb`` beside them;
    ``puts`` and ``gets`` count requests. ``read_gb`` are read before the bytes are ``busy`` hours old, ``later_gb``
    evenly over their whole life. What is never ``busy`` (None) stays where it is; the rest, ``files`` files of it, may
    move to another tier afterwards.
    """

    gb: Values
    hours: Values
    written_gb: Values = 0.0
    read_gb: Values = 0.0
    puts: Values = 0.0
    gets: Values = 0.0
    brief_gb: Values = 0.0
    brief_hours: Values = 0.0
    later_gb: Values = 0.0
    busy: Values | None = None
    files: Values = 0.0

    def gb_hours(self, min_hours: Values) -> Values:
        """GB · hours that a tier bills, each held for its minimum duration at the least."""
        return self.gb * np.maximum(self.hours, min_hours) + self.brief_gb * np.maximum(self.brief_hours, min_hours)


class TierCharges(NamedTuple):
    """USD by what is charged, shape (columns,) each. Uploads and downloads are traffic, the rest is storage."""

    stored: Values
    requests: Values
    retrieval: Values
    uploaded: Values
    downloaded: Values

    @property
    def total(self) -> Values:
        """All of it."""
        return self.stored + self.requests + self.retrieval + self.uploaded + self.downloaded


def parts(problem: Problem, zone: Ints, tier: Ints, stay: Stay) -> TierCharges:
    """Charges of one tier by column; ``zone`` and ``tier`` of one shape that broadcasts with the stay's."""
    tiers, scale = problem.tiers, 1.0 / (1.0 - free_share(problem))
    at = (zone, tier)
    return TierCharges(
        stay.gb_hours(tiers.min_hours[at]) * tiers.usd_gb_hour[at] * scale,
        stay.puts * tiers.put_usd[at] + stay.gets * tiers.get_usd[at],
        (stay.read_gb + stay.later_gb) * tiers.retrieval_per_gb[at],
        stay.written_gb * tiers.upload_per_gb[at],
        (stay.read_gb + stay.later_gb) * tiers.download_per_gb[at],
    )


def choose(
    problem: Problem, zone: Ints, stay: Stay, allowed: NDArray[np.bool_], otherwise: Ints | None = None
) -> tuple[Ints, Floats]:
    """Tier that charges least among those ``allowed`` and its USD, shape (columns,) each.

    ``allowed`` is of shape (columns, tiers); where no tier is, ``otherwise`` is taken and the USD are infinite.
    """
    tiers, size = problem.tiers, len(zone)
    known = np.isfinite(tiers.usd_gb_hour)
    price = np.where(known, tiers.usd_gb_hour / (1.0 - free_share(problem)), 0.0)
    least, chosen = np.full(size, np.inf), np.zeros(size, dtype=np.int64)
    for k in range(price.shape[1]):  # tier by tier: tiers are few, and columns too many to hold beside all of them
        flat = np.where(known[:, k], 0.0, np.inf)
        usd = np.maximum(stay.hours, tiers.min_hours[:, k][zone])
        usd *= stay.gb
        if np.any(stay.brief_gb):
            usd += stay.brief_gb * np.maximum(stay.brief_hours, tiers.min_hours[:, k][zone])
        usd *= price[:, k][zone]
        for amount, each in (
            (stay.puts, tiers.put_usd),
            (stay.gets, tiers.get_usd),
            (stay.written_gb, tiers.upload_per_gb),
            (stay.read_gb + stay.later_gb, tiers.retrieval_per_gb + tiers.download_per_gb),
        ):
            if not isinstance(amount, np.ndarray):
                flat = flat + amount * each[:, k]
            elif np.any(each[:, k]):
                usd += amount * each[:, k][zone]
        usd += flat[zone]
        better = (usd < least) & allowed[:, k]
        least = np.where(better, usd, least)
        chosen[better] = k
    return chosen if otherwise is None else np.where(np.isfinite(least), chosen, otherwise), least


def charge(tier: Tier, stay: Stay, free: float) -> TierCharges:
    """`parts` in plain arithmetic: one tier, numbers."""
    return TierCharges(
        stay.gb_hours(tier.min_hours) * tier.usd_gb_hour / (1.0 - free),
        stay.puts * tier.put_usd + stay.gets * tier.get_usd,
        (stay.read_gb + stay.later_gb) * tier.retrieval_per_gb,
        stay.written_gb * tier.upload_per_gb,
        (stay.read_gb + stay.later_gb) * tier.download_per_gb,
    )


def cheapest(tiers: Iterable[Tier], stay: Stay, free: float) -> Tier:
    """`choose` in plain arithmetic."""
    return min(tiers, key=lambda tier: float(charge(tier, stay, free).total))
