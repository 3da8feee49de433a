"""Backups of the data set, and what incremental training keeps: earlier weights and the samples added since.

While the runs last, ``used`` hours in all, the version in use is backed up every e hours: N = floor(used / e) + 1
times. The newest n = copies of them stand, and are kept as long as the data set.

full         N whole copies are written and min(n, N) stand
incremental  one whole copy, N - 1 times what changed; min(n - 1, N - 1) of those stand, older ones go into the copy
versioning   what changed stays in the store beside what took its place: nothing is copied or read; min(n, N - 1) stand

All of it may stand in an archive; what the store bills at least counts for each copy written.
"""

from __future__ import annotations

import numpy as np

from rlopt.costs.stored.tiers import Stay, Values
from rlopt.market.volumes import dataset_parts, version_bytes
from rlopt.problem import Problem
from rlopt.units import bytes_to_gb, seconds_to_hours

WHOLE, CHANGES = "backups", "backup changes"
WEIGHTS, DELTAS = "earlier weights", "earlier samples"
KINDS = {WHOLE: "elastic", CHANGES: "elastic", WEIGHTS: "fixed", DELTAS: "fixed"}


def _times(problem: Problem, used: Values) -> Values:
    """Backups that are made while the runs last."""
    every = problem.request.job.data.backup.every
    return 1.0 if not every else np.floor(np.asarray(used) / seconds_to_hours(every)) + 1.0


def _turning(gb: float, made: Values, standing: Values, first: int, every: float, hours: Values) -> Stay:
    """``made`` copies of ``gb`` one after the other, the newest ``standing`` of them held.

    The k-th place is taken from (k + first) · every hours on: standing · hours - every · sum of (k + first). A copy
    that another replaces has lived for standing · every hours, those that are left have the rest.
    """
    held = standing * hours - every * standing * (standing - 1.0 + 2.0 * first) / 2.0
    gone, brief = made - standing, standing * every
    return Stay(
        gb * standing,
        (held - gone * brief) / np.maximum(standing, 1.0),
        gb * made,
        brief_gb=gb * gone,
        brief_hours=brief,
    )


def backups(problem: Problem, used: Values, kept: float) -> dict[str, Stay]:
    """What backups ask of a store; ``used`` and ``kept`` in hours, numbers or arrays of shape (columns,)."""
    asked, one = problem.request.job.data.backup, bytes_to_gb(dataset_parts(problem.request)[0])
    if asked.mode == "none" or asked.every is None or not one:
        return {}
    made, every, hours = _times(problem, used), seconds_to_hours(asked.every), used + kept
    if asked.mode == "full":
        return {WHOLE: _turning(one, made, np.minimum(asked.copies, made), 0, every, hours)}
    changed, whole = one * asked.changed_share, asked.mode == "incremental"
    standing = np.minimum(asked.copies - whole, made - 1.0)
    found = {CHANGES: _turning(changed, made - 1.0, standing, 1, every, hours)}
    return {WHOLE: Stay(one, hours, one), **found} if whole else found


def read_for_backups(problem: Problem, used: Values) -> Values:
    """GB of the data set that are read to back them up."""
    asked, one = problem.request.job.data.backup, bytes_to_gb(dataset_parts(problem.request)[0])
    if asked.mode in ("none", "versioning"):
        return 0.0
    made = _times(problem, used)
    return one * made if asked.mode == "full" else one * (1.0 + (made - 1.0) * asked.changed_share)


def earlier(problem: Problem, used: Values, kept: float) -> dict[str, Stay]:
    """Weights and samples of the trainings before this one, held as long as the data set."""
    request = problem.request
    data, samples = request.job.data, request.job.dataset_samples
    if not data.versions_kept:
        return {}
    hours, count = used + kept, data.versions_kept
    added = 0.0 if not samples else version_bytes(request) * data.new_samples / samples / data.shared_by
    found = {WEIGHTS: Stay(count * bytes_to_gb(problem.checkpoint.weights_bytes), hours)}
    return {**found, DELTAS: Stay(count * bytes_to_gb(added), hours)} if added else found
