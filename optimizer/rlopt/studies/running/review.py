"""The bill that came against the plan: more runs, longer runs, other prices, growth, or something else.

One factor at a time, in this order, each at the values that those before it have reached. For a row of machines:

    planned = p · N · H + F                 billed = usd
    trials     = (n - N) · H · p            runs, as long and as dear as planned
    throughput = (h - n · H) · p            hours beyond those of the runs, at the planned price
    price      = h · (q - p)                what the hours really cost
    rest       = usd - F - h · q            what is left: credits, taxes, what was not stated

H: planned hours of one run [h], lost and idle ones included; N, n: planned and real runs; h: billed hours, all runs;
p, q: planned and billed price [USD/h]; F: planned USD that no hour explains (work done before the job, terms of
reserved machines). They add up to usd - planned whatever the numbers are. Another order would move the products of two
changes (longer runs, and more of them) from one part to another.

A row of storage, network, cache, logging or data has no hours: runs that it states count at their planned share, the
remainder is growth; of people's work in operations it is the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, cast, get_args

from rlopt.answers.plan import FoundPlan, Plan, Pool
from rlopt.answers.review import MachineTime, Part, Review, ReviewLine, ReviewParts, Unbilled
from rlopt.costs.compute import pool_item
from rlopt.errors import Complaint, InputError
from rlopt.measured.bill import FACTS, BillRow

TRIALS: Final = ("compute", "tuning trials")
MACHINE_TIME: Final = tuple(
    ("operations", item) for item in ("loss to failures", "idle before release", "divergence", "pilots")
)
"""Lines outside compute that are hours of the machines all the same, as a provider bills them."""
GROWING: Final = ("storage", "network", "cache", "logging", "data")
CENT: Final = 0.005
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan's bill with the hours of its machines in one line a pool.

    Parameters
    ----------
    usd
        By dimension and item; a pool's line holds its share of tuning trials, lost and idle hours too.
    pools
        Pools that are billed by the hour, by their line.
    hours
        Of each of these pools, all runs, lost and idle ones included.
    trials
        Runs that the plan bills.
    """

    usd: dict[Key, float]
    pools: dict[Key, Pool]
    hours: float
    trials: float


def review(plan: Plan, rows: Sequence[BillRow], names: tuple[str, str] = ("plan", "bill")) -> Review:
    """Split the difference between a bill and its plan; the parts add up to it.

    Parameters
    ----------
    plan
        With a bill.
    rows
        As `rlopt.measured.bill.read_bill` gives them.
    names
        How messages call plan and bill.

    Raises
    ------
    InputError
        Where the plan has no bill, or a row names what cannot be split so, with its line.
    """
    if not isinstance(plan, FoundPlan):
        fix = "save a plan that has one with rlopt solve -o"
        raise InputError.of("cost", "the plan has no bill", file=names[0], allowed="a plan with a bill", fix=fix)
    keys = _keys(rows, plan, names[1])
    planned = _planned(plan, set(keys))
    own = {key for key in keys if key[1]}
    claims = [[key] if key[1] else [one for one in planned.usd if one[0] == key[0] and one not in own] for key in keys]
    lines = [_line(row, key, claim, planned, names[1]) for row, key, claim in zip(rows, keys, claims, strict=True)]
    taken = {key for claim in claims for key in claim}
    unbilled = [
        Unbilled.model_validate({"dimension": key[0], "item": key[1], "usd": usd})
        for key, usd in planned.usd.items()
        if key not in taken and usd != 0.0
    ]
    parts = {name: math.fsum(getattr(line.parts, name) for line in lines) for name in get_args(Part)}
    parts["rest"] -= math.fsum(one.usd for one in unbilled)
    more = math.fsum(parts.values())
    return Review(
        plan=names[0],
        bill=names[1],
        planned_usd=plan.cost.total_usd,
        billed_usd=math.fsum(row.usd for row in rows),
        more_usd=more,
        parts=ReviewParts(**parts),
        largest=_largest(parts, more),
        lines=lines,
        unbilled=unbilled,
    )


def _largest(parts: dict[str, float], more: float) -> Part | None:
    """The part that goes farthest the way of the whole."""
    name = max(parts, key=lambda part: parts[part] * (1.0 if more >= 0.0 else -1.0))
    return cast("Part", name) if abs(more) >= CENT else None


def _keys(rows: Sequence[BillRow], plan: FoundPlan, file: str) -> list[Key]:
    """Dimension and item of each row; the dimension of an item that stands alone is looked up in the plan."""
    lines = plan.cost.lines
    complaints, found = [], []
    for row in rows:
        homes = {line.dimension for line in lines if line.item == row.item} if not row.dimension else {row.dimension}
        if len(homes) != 1:
            near = get_close_matches(row.item[:60], {line.item for line in lines}, 1, 0.6)
            fix = f"write {near[0]}, or add its dimension" if near else "add its dimension"
            message = f"{row.item[:60]!r} is {'no line' if not homes else 'a line of several dimensions'} of the plan"
            complaints.append(Complaint(file, row.line, "item", message, "a line of the plan's bill", fix))
            continue
        key = (next(iter(homes)), row.item)
        if key == TRIALS:
            message = "runs after the first stand in a row of their own, though the same machines bill them"
            fix = "add them to the row of the machines, and say there how many runs it holds (trials)"
            complaints.append(Complaint(file, row.line, "item", message, "compute, or its pools", fix))
        if key in found:
            message = f"{row.item!r} stands there twice"
            complaints.append(Complaint(file, row.line, "item", message, "one row for each", "add them up in one row"))
        found.append(key)
    if complaints:
        raise InputError(complaints)
    return found


def _planned(plan: FoundPlan, named: set[Key]) -> _Planned:
    """Fold the hours that lie outside the pools' own lines into these, by rate, unless the bill names them."""
    lines = plan.cost.lines
    usd: dict[Key, float] = {}
    for line in lines:
        key = (line.dimension, line.item)
        usd[key] = usd.get(key, 0.0) + line.usd
    hourly = [pool for pool in plan.pools if pool.pricing != "reserved"]
    pools = {("compute", pool_item(pool)): pool for pool in hourly if ("compute", pool_item(pool)) in usd}
    rate, first = math.fsum(pool.usd_per_hour for pool in pools.values()), math.fsum(usd[key] for key in pools)
    if rate <= 0.0 or first <= 0.0:
        return _Planned(usd, {}, 0.0, 1.0)
    trials = 1.0 + usd.get(TRIALS, 0.0) / first
    folded = [key for key in (TRIALS, *MACHINE_TIME) if key in usd and key not in named]
    hours = (first + math.fsum(usd.pop(key) for key in folded)) / rate
    usd |= {key: pool.usd_per_hour * hours for key, pool in pools.items()}
    return _Planned(usd, pools, hours, trials)


def _line(row: BillRow, key: Key, claim: Sequence[Key], planned: _Planned, file: str) -> ReviewLine:
    usd = math.fsum(planned.usd.get(one, 0.0) for one in claim)
    pools = [planned.pools[one] for one in claim if one in planned.pools]
    machines = None
    if pools:
        parts, machines = _machines(row, usd, pools, planned, file)
    else:
        parts = _others(row, key, usd, planned, file)
    return ReviewLine(
        line=row.line,
        dimension=key[0],
        item=key[1] or None,
        planned_usd=usd,
        billed_usd=row.usd,
        parts=parts,
        machines=machines,
    )


def _others(row: BillRow, key: Key, usd: float, planned: _Planned, file: str) -> ReviewParts:
    """What no hour of the plan's machines stands behind."""
    stated = [name for name in ("hours", "gpu_hours", "price") if getattr(row, name) is not None]
    if stated:
        what = key[1] or key[0]
        message = f"is given for {what}, which the plan does not bill by the hour of its machines"
        raise InputError.of(stated[0], message, file=file, line=row.line, allowed="blank", fix="blank it in this row")
    runs = 0.0 if row.trials is None else (row.trials - planned.trials) * usd / planned.trials
    remainder = row.usd - usd - runs
    return ReviewParts(trials=runs, growth=remainder) if key[0] in GROWING else ReviewParts(trials=runs, rest=remainder)


def _machines(
    row: BillRow, usd: float, pools: Sequence[Pool], planned: _Planned, file: str
) -> tuple[ReviewParts, MachineTime]:
    """Runs, hours and prices of a row of machines, those that are not stated as planned or as they follow."""
    gpus = sum(pool.gpus for pool in pools)
    if row.gpu_hours is not None and not gpus:
        message = "is given for machines without GPUs"
        raise InputError.of("gpu_hours", message, file=file, line=row.line, allowed="hours", fix="state hours")
    each = gpus if row.gpu_hours is not None else 1
    rate = math.fsum(pool.usd_per_hour for pool in pools)
    p, due = rate / each, planned.hours * each
    fixed = usd - rate * planned.hours
    n, run = planned.trials if row.trials is None else row.trials, due / planned.trials
    h, q, paid = row.hours if row.gpu_hours is None else row.gpu_hours, row.price, row.usd - fixed
    if h is None:
        h = paid / q if q and paid > 0.0 else n * run
    if q is None:
        q = paid / h if (row.hours or row.gpu_hours) and paid > 0.0 else p
    parts = ReviewParts(
        trials=(n - planned.trials) * run * p,
        throughput=(h - n * run) * p,
        price=h * (q - p),
        rest=row.usd - fixed - h * q,
    )
    return parts, MachineTime(
        unit="h" if each == 1 and row.gpu_hours is None else "GPU-h",
        planned=due,
        billed=h,
        planned_trials=planned.trials,
        billed_trials=n,
        planned_usd_per_unit=p,
        billed_usd_per_unit=q,
        stated=[name for name in FACTS if getattr(row, name) is not None],
    )
