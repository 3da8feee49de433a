"""Rollout pools mixed of two offers: the samples are split so that both are done at the same time.

Each offer runs the engine that it would run alone. The split starts from the two pools' own seconds and is corrected
once for what the smaller loads do to them; the slower side's seconds count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from rlopt.pools.context import Context
from rlopt.pools.handover import handover_seconds
from rlopt.pools.rows import SamplingRow
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.sampling.seconds import Demand, sample, with_tools
from rlopt.pools.sampling.table import SamplingTable
from rlopt.problem import Floats, Ints, Mix, Seconds, Times
from rlopt.table import groups

LEAST_SHARE = 0.001
"""Least share of the samples that an offer of a mixed pool takes."""
PAIRS = (1 << 31, 1 << 31)
"""Above any pair of row numbers, which then stand for one whole number."""
TABLE = 3
"""Column of `as_table` that says which table a candidate is of."""
NOTHING = 1e-12
"""A share so small that each replica samples once."""


@dataclass(slots=True)
class Remembered:
    """Seconds of pairs that were estimated before, by pair of estimates."""

    keys: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    known: Mix = field(default_factory=lambda: unknown(0))
    least: dict[int, dict[tuple[int, int, bool], Floats]] = field(default_factory=dict)
    """Seconds of engines with next to nothing to do: by table, group size, environment and whether asynchronous."""
    rows: list[Ints] = field(default_factory=list)
    """The candidates as one table, once it was asked for."""

    def mixes(self, first: Ints, second: Ints, estimate: Callable[[Ints, Ints], Mix]) -> Mix:
        """Pairs, shape (pairs,); ``estimate`` is asked for the new ones alone."""
        wanted = np.ravel_multi_index((first, second), PAIRS)
        known = np.append(self.keys, -1)  # no pair is numbered below 0
        new = wanted[known[np.searchsorted(self.keys, wanted)] != wanted]
        if len(new):
            new = np.unique(new)
            keys = np.concatenate([self.keys, new])
            order = np.argsort(keys)
            self.keys = keys[order]
            self.known = Mix.join([self.known, estimate(*np.unravel_index(new, PAIRS))]).take(order)
        return self.known.take(np.searchsorted(self.keys, wanted))


def unknown(pairs: int) -> Mix:
    """Places for the seconds and shares of pairs, infinite, each an array of its own."""
    at = [np.full(pairs, np.inf) for _ in range(6)]
    return Mix(at[0], at[1], Times(Seconds(at[2], at[3]), Seconds(at[4], at[5])))


def as_table(rows: Sequence[SamplingRow]) -> Ints:
    """Table row, group size, environment and table of every rollout candidate, shape (candidates, 4)."""
    found = [(row.row, row.group_size, row.environment, row.table) for row in rows]
    return np.array(found, dtype=np.int64).reshape(-1, 4)


def _groups(
    table: SamplingTable, rows: Ints, first: Ints, second: Ints
) -> Iterator[tuple[Ints, int, int, int, Ints, Ints]]:
    """Pairs by group size, environment and precision: their places, those three, and both sides' table rows.

    ``rows`` as `as_table` gives them.
    """
    a, b = rows[first], rows[second]
    for (size, environment, precision), here in groups(a[:, 1], a[:, 2], table.precision[a[:, 0]]).items():
        yield here, size, environment, precision, a[here, 0], b[here, 0]


def _bands(context: Context, table: SamplingTable, rows: Ints) -> Floats:
    return np.asarray(context.rollout_band[table.topology[rows]])


def _sent(context: Context, table: SamplingTable, rows: Ints) -> Floats:
    """Seconds that new weights take beyond the transport's own, whatever the share."""
    return np.asarray(handover_seconds(context)[table.topology[rows]])


def _least_seconds(
    context: Context, table: SamplingTable, known: dict[tuple[int, int, bool], Floats], key: tuple[int, int, bool]
) -> Floats:
    """Seconds of every engine at the smallest share there is: its longest response, whatever the split.

    Worlds are shared out with the samples, so a policy that acts has no such least: 0.
    """
    if context.workload.acting is not None:
        return np.zeros(len(table))
    if key not in known:
        size, environment, asynchronous = key
        found = np.full(len(table), np.inf)
        for number, precision in enumerate(context.request.choices.precision.rollout):
            here = np.flatnonzero(table.precision == number)
            share = np.full(len(here), NOTHING)
            found[here] = _at_share(
                context, table, precision, size, context.instances[environment], here, share, asynchronous
            )
        known[key] = found
    return known[key]


def mixed_least(
    context: Context,
    table: SamplingTable,
    rows: Ints,
    one: Ints,
    known: dict[tuple[int, int, bool], Floats],
) -> Mix:
    """Seconds that an offer of a mixed pool takes whatever its share: its longest response and its new weights."""
    found = unknown(len(one))
    for here, size, environment, _, a, _ in _groups(table, rows, one, one):
        bands, sent = _bands(context, table, a), _sent(context, table, a)
        for seconds, asynchronous in ((found.times.in_step, False), (found.times.asynchronous, True)):
            end = _least_seconds(context, table, known, (size, environment, asynchronous))[a]
            median = with_tools(context, end, size, context.instances[environment], asynchronous) + sent
            seconds.median[here] = median
            seconds.confident[here] = median * bands
    return found


def mixed_bound(
    context: Context,
    table: SamplingTable,
    rows: Ints,
    first: Ints,
    second: Ints,
    known: dict[tuple[int, int, bool], Floats],
) -> Mix:
    """Seconds that no split can undercut.

    Engines are no faster at their share than at all of the samples, and none is done before its longest response.
    ``known`` keeps what was computed for one call for the next.
    """
    found = unknown(len(first))
    for here, size, environment, _, a, b in _groups(table, rows, first, second):
        instances = context.instances[environment]
        bands = _bands(context, table, a), _bands(context, table, b)
        sent = _sent(context, table, a), _sent(context, table, b)
        for engines, split, found_seconds, asynchronous in _ways(table, found):
            one, other = engines[(size, environment)][a], engines[(size, environment)][b]
            longest = _least_seconds(context, table, known, (size, environment, asynchronous))
            ends = longest[a], longest[b]
            shared = 1.0 / (1.0 / one + 1.0 / other)
            last = [
                with_tools(context, end, size, instances, asynchronous) + add
                for end, add in zip(ends, sent, strict=True)
            ]
            seconds = with_tools(context, shared, size, instances, asynchronous) + np.minimum(*sent)
            late = [end * band for end, band in zip(last, bands, strict=True)]
            found_seconds.median[here] = np.maximum(seconds, np.maximum(*last))
            found_seconds.confident[here] = np.maximum(seconds * np.minimum(*bands), np.maximum(*late))
            split[here] = _even((one, other), ends)
    return found


def _ways(table: SamplingTable, mix: Mix) -> tuple[tuple[Mapping[tuple[int, int], Floats], Floats, Seconds, bool], ...]:
    """In step and asynchronously: seconds of the engines alone, and where the mix's shares and seconds go."""
    return (
        (table.engine_seconds, mix.split, mix.times.in_step, False),
        (table.engine_async_seconds, mix.async_split, mix.times.asynchronous, True),
    )


def _even(
    whole: tuple[Floats, Floats], ends: tuple[Floats, Floats], shares: tuple[Floats | float, ...] = (1.0, 1.0)
) -> Floats:
    """Share of the first at which both are done together.

    Each side takes its longest response (``ends``) and then as long as its samples need, in proportion to its share:
    ``whole`` seconds at ``shares``.
    """
    slopes = [np.maximum(w - e, 0.0) / share for w, e, share in zip(whole, ends, shares, strict=True)]
    total = slopes[0] + slopes[1]
    even = np.divide(slopes[1] + ends[1] - ends[0], total, out=np.full(len(total), 0.5), where=total > 0.0)
    return np.asarray(np.clip(np.nan_to_num(even, nan=0.5), LEAST_SHARE, 1.0 - LEAST_SHARE))


def _at_share(
    context: Context,
    table: SamplingTable,
    precision: str,
    size: int,
    instances: int,
    row: Ints,
    share: Floats,
    asynchronous: bool,
) -> Floats:
    """Seconds of table rows at their share of the samples; infinite where they cannot run."""
    hardware = context.hardware.take(table.topology[row])
    gpus = (table.nodes[row] * hardware.gpus_per_node).astype(np.int64)
    engine = Engine(hardware, table.tp[row], table.ep[row], gpus, precision)
    return sample(context, engine, Demand(size, asynchronous, share, instances)).total


def mixed_times(
    context: Context,
    table: SamplingTable,
    rows: Ints,
    first: Ints,
    second: Ints,
    known: dict[tuple[int, int, bool], Floats],
) -> Mix:
    """Seconds of pools mixed of two rows each, shape (pairs,), split in step and asynchronously each for itself."""
    found = unknown(len(first))
    for here, size, environment, number, a, b in _groups(table, rows, first, second):
        precision, instances = context.request.choices.precision.rollout[number], context.instances[environment]
        seconds = partial(_at_share, context, table, precision, size, instances)
        bands = _bands(context, table, a), _bands(context, table, b)
        sent = _sent(context, table, a), _sent(context, table, b)
        for engines, split_of, found_seconds, asynchronous in _ways(table, found):
            longest = _least_seconds(context, table, known, (size, environment, asynchronous))
            ends = longest[a], longest[b]
            split = _even((engines[(size, environment)][a], engines[(size, environment)][b]), ends)
            shares = split, 1.0 - split
            split = _even((seconds(a, shares[0], asynchronous), seconds(b, shares[1], asynchronous)), ends, shares)
            one = with_tools(context, seconds(a, split, asynchronous), size, instances, asynchronous) + sent[0]
            other = with_tools(context, seconds(b, 1.0 - split, asynchronous), size, instances, asynchronous) + sent[1]
            split_of[here] = split
            found_seconds.median[here] = np.maximum(one, other)
            found_seconds.confident[here] = np.maximum(one * bands[0], other * bands[1])
    return found
