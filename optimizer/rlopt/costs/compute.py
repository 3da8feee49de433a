"""Compute: failure-free hours times the rate of every pool; tuning trials stand on a line of their own.

cost = rate [USD/h] · failure-free hours [h] · trials [runs]
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun, Pool
from rlopt.columns.hours import pilot_runs
from rlopt.costs import phases
from rlopt.costs.contract import Terms, told
from rlopt.costs.stored.copies import tariff_of
from rlopt.costs.stored.kept_bytes import charges, compression_usd
from rlopt.problem import Columns, Problem
from rlopt.request import Compression
from rlopt.words import StageKind

DIMENSION = "compute"
COMPRESSION = "compression"


def terms(columns: Columns, problem: Problem) -> Terms:
    """GPU pools, CPU pools and the further trials, USD by column."""
    gpu = (columns.usd_per_hour - columns.committed_usd_per_hour) * columns.failure_free_hours
    cpu = columns.cpu_usd_per_hour * columns.failure_free_hours
    trials = (gpu + cpu) * (problem.request.billed_runs - 1.0)
    found = {"gpu pools": gpu, "cpu pools": cpu, "commitments": columns.committed_usd, "tuning trials": trials}
    if problem.request.job.compression != Compression():
        found[COMPRESSION] = np.asarray(compression_usd(columns, problem) + np.zeros(len(columns)))
    return found | ({phases.PHASES: phases.usd(columns, problem)} if problem.phases else {})


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """One line a pool, and one for the trials after the first run."""
    hours, trials = plan.time.failure_free_hours, problem.request.billed_runs
    found = []
    for pool in plan.pools:
        per_node = pool.usd_per_hour / pool.nodes
        if pool.pricing == "reserved":
            continue
        found.append(
            BillLine(
                dimension="compute",
                item=pool_item(pool),
                kind="fixed" if pool.roles in ([StageKind.LOAD], ["control"]) else "elastic",
                usd=pool.usd_per_hour * hours,
                basis=f"{pool.nodes} x {pool.instance_type} at {per_node:.4f} USD/h x {hours:.4f} h without failures",
            )
        )
    if problem.request.job.trials != 1:
        first = sum(line.usd for line in found)
        found.append(
            BillLine(
                dimension="compute",
                item="tuning trials",
                kind="hidden",
                usd=first * (trials - 1.0),
                basis=f"{first:.2f} USD a run x {trials - 1:g} further runs{_cut(problem)}",
            )
        )
    found += phases.lines(plan, problem)
    found += _compression(plan, problem)
    used = plan.time.expected_hours * (trials + pilot_runs(problem))
    return found + [_commitment(pool, used) for pool in plan.pools if pool.term_hours]


def pool_item(pool: Pool) -> str:
    """What a pool's line is called: by what it does where it is no pool of the job's models."""
    if pool.roles == [StageKind.LOAD]:
        return pool.name
    return "spare node" if pool.roles == ["spare"] else f"pool {pool.name}"


def _cut(problem: Problem) -> str:
    """How trials that are cut off are counted; nothing where none are."""
    cut = problem.request.limits.cut_off
    if cut is None or not cut.share:
        return ""
    return f" ({cut.share:.0%} of the trials but the first are cut off at {cut.at:.0%})"


def _commitment(pool: Pool, hours: float) -> BillLine:
    """A reserved pool: whole terms, whatever is used of them."""
    term = pool.term_hours or 0.0
    terms = max(math.ceil(max(hours, 1e-9) / term * (1.0 - 1e-12)), 1)
    per_node = pool.usd_per_hour / pool.nodes
    return BillLine(
        dimension="compute",
        item=f"commitment {pool.name}",
        kind="fixed",
        usd=pool.usd_per_hour * term * terms,
        basis=f"{pool.nodes} x {pool.instance_type} at {per_node:.4f} USD/h x {terms} term of {term:g} h, "
        f"{hours:.4f} h used",
    )


def _compression(plan: PlannedRun, problem: Problem) -> Iterator[BillLine]:
    """VCPU hours of what is compressed; no line where nothing is."""
    tariff = tariff_of(plan, problem)
    hours = {item: one.vcpu_hours for item, one in charges(plan, problem, tariff).items() if one.vcpu_hours}
    if not hours or tariff.vcpu is None:
        return
    what = " + ".join(f"{item} {spent:.4g} vCPU hours" for item, spent in hours.items())
    yield BillLine(
        dimension="compute",
        item=COMPRESSION,
        kind="elastic",
        usd=math.fsum(hours.values()) * tariff.vcpu.usd_per_hour,
        basis=f"({what}) x {tariff.vcpu.usd_per_hour:.4f} USD/h of {tariff.vcpu.offer}{told(tariff.vcpu.note)}",
    )
