"""The margin of the memory model: how much of a GPU stays free for the model's own error, by engine.

Out of sample, 95 % of measured peaks lie below needed · (1 + margin). An engine with few rows is shrunk towards its
family; a family's own margin, which plans use, is that of all runs of its engines as the family's constants see them.
Peaks of reports with partial settings have no say: what they leave unsaid is no error of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.fitting.memory import REPORTED, measured_rows
from lab.fitting.published import published
from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.facts import Catalog
from rlopt.fitting.fit import Study
from rlopt.measured.memory.cases import MemoryCases, cases, peaks

COVERED = 0.95
PLANNED = 0.80
"""Share that the margins of plans cover, where all stacks of a family count, old ones and rounded figures too. A wider
one would refuse runs that are known to have run (NeMo-RL's on H100)."""
SHRINK_ROWS = 10.0
"""Rows at which an engine's own quantile counts half."""
LEAST, MOST = 0.03, 0.60
LAST_RANK = "megatron-ci"
"""Tiny functional tests logged by their last rank lie far below any device's need and say nothing of it."""
OWN_STATES = ("internevo", "litgpt", "torchtune", "torchtune-eager", "colossalai")
"""Engines that keep other states than their family: they say nothing of its plans."""
DIGITS = 2


def family(engine: str, calibration: Calibration) -> str:
    """The family that an engine is like in the end."""
    families: Mapping[str, Mapping[str, str]] = calibration.training["engines"]
    while families[engine]:
        engine = families[engine]["like"]
    return engine


def margins(
    study: Study, found: MemoryCases, predicted: Floats, calibration: Calibration
) -> dict[tuple[str, ...], float]:
    """Margins by path, from peaks ``predicted`` out of sample, shape of the study's rows and of ``found``.

    What a plan needs is moved by the same factor as the prediction out of sample.
    """
    names = [str(name) for name in study.labels["engine"]]
    engines = np.array(names)
    roots = np.array([family(name, calibration) for name in names])
    seen, needed = peaks(found, calibration)
    excess = np.log(study.measured / (needed * predicted / seen))
    reports = {row.id for row in published(REPORTED)}
    known = np.isfinite(excess) & (engines != LAST_RANK) & np.array([name not in reports for name in study.ids])
    result: dict[tuple[str, ...], float] = {}
    families = sorted(set(roots.tolist()))
    planned = {root: _planned(study, found, calibration, root) for root in families}
    theirs = {root: known & (roots == root) & ~np.isin(engines, OWN_STATES) for root in families}
    pooled = np.concatenate([planned[root][theirs[root]] for root in families])
    anyone = _covering(pooled, np.concatenate([engines[theirs[root]] for root in families]), PLANNED)
    for root in families:
        here, like = known & (roots == root), theirs[root]
        plan = _mixed(_covering(planned[root][like], engines[like], PLANNED), int(like.sum()), anyone)
        itself = excess[here & (engines == root)]
        least = float(np.quantile(itself, COVERED)) if len(itself) else -np.inf
        result["memory", "margin", root] = _share(max(plan, least))
        common = _covering(excess[here], engines[here], COVERED)
        for engine in sorted(set(engines[here].tolist()) - {root}):
            own = excess[here & (engines == engine)]
            result["memory", "margin", engine] = _share(_mixed(float(np.quantile(own, COVERED)), len(own), common))
    return result


def margins_after(
    study: Study, predicted: Floats, catalog: Catalog, calibration: Calibration
) -> dict[tuple[str, ...], float]:
    """Margins by path from the memory ``study``'s own rows and their peaks ``predicted`` out of sample."""
    return margins(study, cases(measured_rows(), catalog, calibration), predicted, calibration)


def _planned(study: Study, found: MemoryCases, calibration: Calibration, root: str) -> Floats:
    """ln(measured / needed) as a plan with the constants of the family ``root`` would have said it, shape (n,)."""
    stack = replace(found.stack, engine=np.full(len(study.ids), calibration.engine(root)))
    return np.asarray(np.log(study.measured / peaks(replace(found, stack=stack), calibration)[1]))


def _mixed(own: float, rows: int, common: float) -> float:
    """``own`` of few rows, shrunk towards ``common``."""
    weight = rows / (rows + SHRINK_ROWS)
    return weight * own + (1.0 - weight) * common


def _covering(excess: Floats, engines: NDArray[np.str_], covered: float) -> float:
    """Excess that the share ``covered`` of a family lies below; an engine counts as the square root of its rows."""
    _, which, counts = np.unique(engines, return_inverse=True, return_counts=True)
    weights = 1.0 / np.sqrt(counts[which])
    order = np.argsort(excess)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(excess[order][min(int(np.searchsorted(reached, covered)), len(order) - 1)])


def _share(excess: float) -> float:
    return round(float(np.clip(np.expm1(excess), LEAST, MOST)), DIGITS)


__all__ = ["family", "margins"]
