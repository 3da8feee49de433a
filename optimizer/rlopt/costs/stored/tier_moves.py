"""Bytes that grow old: in one tier for good, or hot at first and in another tier from some age on.

USD of a move at age a, over all files = what the first tier charges for a hours and every read until then
  + GB · (retrieval + egress of the first, upload to the second) + files · (a read of the first, a write to the second)
  + what the second tier charges for the rest, its minimum duration at the least

Ages are whole days, as lifecycle rules of object stores count them, and not before the last read that a run needs.
Of all ages one matters for each first tier: the earliest, but not before its minimum duration. The charge is convex and
piecewise linear in a; where it falls beyond that age, one of the two tiers alone is no dearer (docs/decisions/0014).
For a given age the first and the second tier charge apart, so the best pair is the best first and the best second.
Minimum durations are whole days.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlopt.costs.stored.tiers import Stay, TierCharges, Values, charge, choose, free_share, parts
from rlopt.problem import Floats, Ints, Problem
from rlopt.problem.tariff import Tier
from rlopt.units import HOURS_PER_DAY

NEVER = -1
"""Number of the second tier of bytes that never move."""
WORTH = 1.0 - 1e-9
"""A way is taken for another where it charges less than this part of it: no bytes move for a rounding error."""


class TierMove(NamedTuple):
    """How bytes are kept, shape (columns,) each: first tier, the tier they move to (`NEVER`), hours until they do."""

    first: Ints
    second: Ints
    after: Floats


class Route(NamedTuple):
    """The same of one plan. ``second`` is None where bytes never move."""

    first: Tier
    second: Tier | None = None
    after: float = 0.0


def earliest(busy: Values) -> Values:
    """First whole day after ``busy`` hours, in hours of age."""
    days = np.maximum(np.ceil(np.asarray(busy, dtype=np.float64) / HOURS_PER_DAY), 1.0)
    return np.asarray(days * HOURS_PER_DAY)


def _rows(stay: Stay, index: NDArray[np.int64], size: int) -> Stay:
    """The stay of some columns alone."""
    cut = {
        name: value[index]
        for name in Stay.__slots__
        if isinstance(value := getattr(stay, name), np.ndarray) and value.shape == (size,)
    }
    return replace(stay, **cut)


def _first_usd(problem: Problem, at: tuple[Ints, Ints], stay: Stay, after: Floats) -> Floats:
    """USD in the first tier ``at`` (zone, tier) until ``after``, reading it out of there included."""
    tiers, scale = problem.tiers, 1.0 / (1.0 - free_share(problem))
    least, price = tiers.min_hours[at], tiers.usd_gb_hour[at] * scale
    usd = stay.gb * np.maximum(after, least) * price
    if np.any(stay.brief_gb):
        usd = usd + stay.brief_gb * np.maximum(stay.brief_hours, least) * price
    read = stay.read_gb + stay.gb + stay.later_gb * after / stay.hours
    usd = usd + read * (tiers.retrieval_per_gb + tiers.download_per_gb)[at] + stay.written_gb * tiers.upload_per_gb[at]
    return np.asarray(usd + stay.puts * tiers.put_usd[at] + (stay.gets + stay.files) * tiers.get_usd[at])


def _second_usd(
    problem: Problem, zone: Ints, stay: Stay, after: Floats, allowed: NDArray[np.bool_]
) -> tuple[Floats, Ints]:
    """Least USD from ``after`` on and the tier that charges it; infinite where none is allowed."""
    tiers, size = problem.tiers, len(zone)
    usable = np.broadcast_to(allowed & tiers.shared[zone], (size, tiers.shared.shape[1]))
    if np.any(stay.later_gb):
        usable = usable & tiers.ready[zone]
    rest = stay.hours - after
    later = stay.later_gb * rest / stay.hours
    price = np.where(np.isfinite(tiers.usd_gb_hour), tiers.usd_gb_hour, 0.0) / (1.0 - free_share(problem))
    reads = tiers.retrieval_per_gb + tiers.download_per_gb
    least, chosen = np.full(size, np.inf), np.zeros(size, dtype=np.int64)
    for k in range(usable.shape[1]):
        if not usable[:, k].any():
            continue
        usd = stay.gb * (np.maximum(rest, tiers.min_hours[zone, k]) * price[zone, k] + tiers.upload_per_gb[zone, k])
        usd = usd + stay.files * tiers.put_usd[zone, k]
        if np.any(stay.later_gb):
            usd = usd + later * reads[zone, k]
        better = usable[:, k] & (usd < least)
        least, chosen = np.where(better, usd, least), np.where(better, k, chosen)
    return least, chosen


def choose_way(
    problem: Problem,
    zone: Ints,
    stay: Stay,
    allowed: NDArray[np.bool_],
    otherwise: Ints | None = None,
    moves_to: NDArray[np.bool_] | None = None,
) -> TierMove:
    """The way that charges least from a first tier ``allowed`` to one of ``moves_to``, both of shape (columns, tiers).

    Bytes move to the allowed tiers where ``moves_to`` is None; ``otherwise`` as in `choose`.
    """
    size = len(zone)
    first, usd = choose(problem, zone, stay, allowed, otherwise)
    never = TierMove(first, np.full(size, NEVER, dtype=np.int64), np.zeros(size))
    if stay.busy is None:
        return never
    soonest = np.broadcast_to(earliest(stay.busy), (size,))
    moving = np.flatnonzero((soonest < stay.hours) & np.isfinite(usd) & (np.asarray(stay.gb) > 0.0))
    if not len(moving):
        return never
    tiers = problem.tiers
    fine = np.broadcast_to(allowed, (size, tiers.shared.shape[1]))[moving]
    fine = fine & np.isfinite(tiers.usd_gb_hour[zone[moving]])
    to = fine if moves_to is None else np.broadcast_to(moves_to, (size, tiers.shared.shape[1]))[moving]
    here, some, soonest = zone[moving], _rows(stay, moving, size), soonest[moving]
    best, pair = usd[moving], (np.copy(first[moving]), np.copy(never.second[moving]), np.zeros(len(moving)))
    for least in np.unique(tiers.min_hours[here][fine]):
        after = np.maximum(soonest, least)
        rows = np.flatnonzero((after < some.hours) & (fine & (tiers.min_hours[here] == least)).any(axis=1))
        if not len(rows):
            continue
        one, age, at = _rows(some, rows, len(moving)), after[rows], here[rows]
        rest, second = _second_usd(problem, at, one, age, to[rows])
        for k in range(fine.shape[1]):
            mine = fine[rows, k] & (tiers.min_hours[at, k] == least)
            if not mine.any():
                continue
            total = _first_usd(problem, (at, np.full(len(rows), k)), one, age) + rest
            better = mine & (total < best[rows] * WORTH)
            won = rows[better]
            best[won] = total[better]
            pair[0][won], pair[1][won], pair[2][won] = k, second[better], age[better]
    for values, found in zip(never, pair, strict=True):
        values[moving] = found
    return never


def choose_move(problem: Problem, zone: Ints, first: Ints, stay: Stay, allowed: NDArray[np.bool_]) -> TierMove:
    """The same for bytes that stand in ``first`` already: only whether and where they move."""
    size, tiers = len(zone), problem.tiers
    never = TierMove(np.asarray(first), np.full(size, NEVER, dtype=np.int64), np.zeros(size))
    if stay.busy is None:
        return never
    after = np.maximum(earliest(stay.busy), tiers.min_hours[zone, first])
    moving = np.flatnonzero((after < stay.hours) & (np.asarray(stay.gb) > 0.0))
    if not len(moving):
        return never
    at, some, age = (zone[moving], first[moving]), _rows(stay, moving, size), after[moving]
    fine = np.broadcast_to(allowed, (size, tiers.shared.shape[1]))[moving]
    rest, second = _second_usd(problem, at[0], some, age, fine & np.isfinite(tiers.usd_gb_hour[at[0]]))
    still = np.asarray(parts(problem, *at, some).total)
    better = _first_usd(problem, at, some, age) + rest < still * WORTH
    never.second[moving[better]], never.after[moving[better]] = second[better], age[better]
    return never


def way_parts(problem: Problem, zone: Ints, way: TierMove, stay: Stay) -> TierCharges:
    """Charges of a way by column."""
    still = parts(problem, zone, way.first, stay)
    moved = way.second != NEVER
    if not moved.any():
        return still
    tiers, scale = problem.tiers, 1.0 / (1.0 - free_share(problem))
    at, to = (zone, way.first), (zone, np.where(moved, way.second, way.first))
    found = _routed(
        stay,
        way.after,
        [getattr(tiers, name)[at] for name in _PRICES],
        [getattr(tiers, name)[to] for name in _PRICES],
        scale,
    )
    return TierCharges(*(np.where(moved, new, old) for new, old in zip(found, still, strict=True)))


_PRICES = ("usd_gb_hour", "min_hours", "put_usd", "get_usd", "retrieval_per_gb", "upload_per_gb", "download_per_gb")


def _routed(stay: Stay, after: Values, one: Sequence[Values], two: Sequence[Values], scale: float) -> TierCharges:
    """Charges of a move at age ``after``; ``one`` and ``two`` are the `_PRICES` of both tiers."""
    price, least, put, get, retrieval, upload, download = one
    price2, least2, put2, _, retrieval2, upload2, download2 = two
    rest = stay.hours - after
    stored = (stay.gb * np.maximum(after, least) + stay.brief_gb * np.maximum(stay.brief_hours, least)) * price
    stored = stored + stay.gb * np.maximum(rest, least2) * price2
    soon, late = stay.read_gb + stay.gb + stay.later_gb * after / stay.hours, stay.later_gb * rest / stay.hours
    return TierCharges(
        stored * scale,
        stay.puts * put + (stay.gets + stay.files) * get + stay.files * put2,
        soon * retrieval + late * retrieval2,
        stay.written_gb * upload + stay.gb * upload2,
        soon * download + late * download2,
    )


def route_charge(route: Route, stay: Stay, free: float) -> TierCharges:
    """`way_parts` of one plan, in plain arithmetic."""
    if route.second is None:
        return charge(route.first, stay, free)
    one, two = ([getattr(tier, name) for name in _PRICES] for tier in (route.first, route.second))
    return _routed(stay, route.after, one, two, 1.0 / (1.0 - free))


def routes(first: Iterable[Tier], tiers: Sequence[Tier], stay: Stay) -> list[Route]:
    """Every way to keep bytes whose first tier is one of ``first`` and whose second, if any, one of ``tiers``."""
    found = [Route(tier) for tier in first]
    if stay.busy is None or not stay.gb:
        return found
    names = {route.first.name for route in found}
    seconds = [tier for tier in tiers if tier.shared and (tier.name in names or not stay.later_gb)]
    for route in tuple(found):
        after = max(float(earliest(stay.busy)), route.first.min_hours)
        if after < float(stay.hours):
            found += [Route(route.first, tier, after) for tier in seconds]
    return found


def best_route(first: Iterable[Tier], tiers: Sequence[Tier], stay: Stay, free: float) -> Route:
    """`choose_way` in plain arithmetic."""
    best, least = None, np.inf
    for route in routes(first, tiers, stay):
        usd = float(route_charge(route, stay, free).total)
        if best is None or usd < least * (WORTH if route.second else 1.0):
            best, least = route, usd
    if best is None:
        raise ValueError("no tier to keep bytes in")
    return best
