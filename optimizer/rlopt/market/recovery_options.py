"""Ways to keep a run alive that the request leaves open, and how long its machines are waited for."""

from __future__ import annotations

from itertools import product

import numpy as np

from rlopt.facts import Catalog
from rlopt.market.launchers import launcher_of
from rlopt.market.matching import offers_that_match
from rlopt.problem import Floats, Market, RecoveryOption
from rlopt.request import Request
from rlopt.units import seconds_to_hours

SENSITIVE = ("ppo", "grpo", "vla")
"""Algorithms whose runs are known to collapse, at rates that nobody publishes."""


def recovery_options(request: Request) -> tuple[RecoveryOption, ...]:
    """Every combination of what is open, fewest spare nodes first: limits on GPUs look at the first alone."""
    spares = sorted(request.recovery.spare_nodes)
    compressed = (False,) if request.job.compression.checkpoints is None else (False, True)
    return tuple(
        RecoveryOption(spare_nodes=spare, rollouts_every=every, compressed=squeezed)
        for spare, every, squeezed in product(spares, request.checkpoint.rollouts, compressed)
    )


def waits(request: Request, market: Market, catalog: Catalog) -> Floats | None:
    """Hours that an order of each offer waits, shape (offers,): the longest matching row; None without any."""
    if not any(row.wait for row in request.limits.wait):
        return None
    found = np.zeros(len(market.offers))
    for row in request.limits.wait:
        matching = offers_that_match(row, market, catalog)
        found = np.where(matching, np.maximum(found, seconds_to_hours(row.wait)), found)
    return found


def notes(request: Request, catalog: Catalog) -> list[str]:
    """What a plan has to say of recovery, waits and trials that the request leaves to a default."""
    job, limits, found = request.job, request.limits, list[str]()
    if job.algorithm in SENSITIVE and not job.divergences and "job.divergences" not in request.source.places:
        found.append(
            f"job.divergences is not given: no collapse of a {job.algorithm} run is on the bill "
            "(no source gives a rate)"
        )
    if job.algorithm == "ppo" and job.trials == 1 and "job.trials" not in request.source.places:
        found.append(
            "job.trials is not given: one run is billed, though ppo often needs several until its clipping fits"
        )
    if limits.deadline_from == "request" and not limits.wait:
        found.append(
            "assumed: machines are there at once; limits.deadline_from is request and limits.wait is not given"
        )
    launcher = launcher_of(request, catalog)
    if any(request.checkpoint.rollouts) and not (launcher is not None and launcher.elastic):
        why = "recovery.launcher is not given" if launcher is None else f"{launcher.name} is not elastic"
        found.append(f"checkpoint.rollouts shortens nothing: {why}, so a lost rollout machine stops the whole run")
    return found
