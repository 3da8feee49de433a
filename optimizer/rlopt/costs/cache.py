"""Cache: a fast store for replay buffer, indexes, reward intermediates, good samples and transcripts.

USD = price of the cheapest store that holds them all and carries their operations [USD/h] · expected hours · runs
"""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import Terms, runs, told
from rlopt.costs.stored.copies import tariff_of
from rlopt.problem import Columns, Problem
from rlopt.problem.tariff import CacheStore
from rlopt.units import format_size

DIMENSION = "cache"


def terms(columns: Columns, problem: Problem) -> Terms:
    """The fast store, USD by column; it stands as long as a run takes."""
    price = np.array([0.0 if tariff.cache is None else tariff.cache.usd_per_hour for tariff in problem.tariffs])
    return {"fast store": price[columns.zone] * columns.expected_hours * problem.request.job.trials}


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """The fast store of a finished plan, with what stands in it; no line where nothing is cached."""
    held, store = problem.request.job.cache, tariff_of(plan, problem).cache
    if held is None or store is None:
        return []
    named = {
        "replay buffer": held.replay,
        "index": held.index,
        "reward intermediates": held.reward_intermediates,
        "good samples": held.good_samples,
        "transcripts": held.transcripts,
    }
    what = ", ".join(f"{name} {format_size(size)}" for name, size in named.items() if size) or "replay buffer"
    hours, trials = plan.time.expected_hours, problem.request.job.trials
    return [
        BillLine(
            dimension="cache",
            item="fast store",
            kind="elastic",
            usd=store.usd_per_hour * hours * trials,
            basis=f"{store.name}: {store.gib:.4g} GiB ({what}) at {store.usd_per_hour:.4f} USD/h x {hours:.4f} h"
            f"{runs(trials)}{told(_operations(store, held.peak_ops))}{told(store.note)}",
        )
    ]


def _operations(store: CacheStore, peak_ops: float) -> str:
    """Whether the store carries the operations at the peak; nothing where none are asked or no source says."""
    if not peak_ops or store.ops_per_second is None:
        return ""
    return f"carries {store.ops_per_second:,.0f} operations a second, {peak_ops:,.0f} at the peak"
