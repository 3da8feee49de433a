"""Copies of unfinished responses on shared storage (`checkpoint.rollouts`): bytes, requests and uploads.

Every response is copied once for each n of its tokens, by a request of its own: token and log-probability. A step's
copies stand until it is over: the bytes of one step are held all the time, each for a step, in the store at hand that
charges least; a store's minimum duration counts for every copy.
Copies are written beside sampling; the few that are read back after a loss are not billed.
"""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BillLine, Kind, PlannedRun
from rlopt.costs.contract import Terms, once, runs
from rlopt.costs.stored.tiers import Stay, TierCharges, Values, charge, cheapest, choose, free_share, parts
from rlopt.problem import Columns, Problem
from rlopt.problem.tariff import Tariff
from rlopt.units import bytes_to_gb
from rlopt.words import StageKind
from rlopt.workloads.variants import LOG_PROB_BYTES

ITEM, SENT = "unfinished responses", "unfinished responses to the store"


def _step(problem: Problem) -> tuple[float, float]:
    """Responses of one step for each sample of a group, and GB of one."""
    generate, request = problem.workload.of_kind(StageKind.SAMPLE), problem.request
    anew = generate[0].per_sample if generate else 0.0
    token = request.costs.bytes_per_token + LOG_PROB_BYTES
    return problem.workload.prompts_per_step * anew, bytes_to_gb(request.job.response_tokens.average * token)


def _stay(problem: Problem, every: Values, size: Values, steps: Values, hours: Values) -> Stay:
    """What copies ask of a store, over all runs; nothing where ``every`` is 0."""
    trials, (responses, each) = problem.request.job.trials, _step(problem)
    on = np.minimum(every, 1.0)
    count = on * responses * size
    copies = problem.request.job.response_tokens.average / np.maximum(every, 1.0)
    written = count * steps * trials
    return Stay(written * each, hours / np.maximum(steps, 1.0), written * each, puts=written * copies)


@once
def _parts(columns: Columns, problem: Problem) -> TierCharges | None:
    """Charges by column; None where no way to keep a run alive copies any."""
    if not any(recovery.rollouts_every for recovery in problem.recovery_options):
        return None
    every = problem.recovery(lambda recovery: recovery.rollouts_every)[columns.recovery]
    size, steps = columns.group_size.astype(np.float64), columns.steps.astype(np.float64)
    stay = _stay(problem, every, size, steps, columns.expected_hours)
    tier, _ = choose(problem, columns.zone, stay, problem.tiers.ready[columns.zone])
    return parts(problem, columns.zone, tier, stay)


def storage_terms(columns: Columns, problem: Problem) -> Terms:
    """Bytes held and requests, USD by column."""
    found = _parts(columns, problem)
    return {} if found is None else {ITEM: np.asarray(found.stored + found.requests)}


def network_terms(columns: Columns, problem: Problem) -> Terms:
    """Uploads to a store elsewhere, USD by column."""
    found = _parts(columns, problem)
    return {} if found is None else {SENT: np.asarray(found.uploaded)}


def lines(plan: PlannedRun, problem: Problem, tariff: Tariff, dimension: str) -> list[BillLine]:
    """The line of one dimension, storage or network; none where nothing is copied."""
    decided = plan.decisions.recovery
    every = (decided or {}).get("rollouts_every") or 0
    if not every:
        return []
    free, trials = free_share(problem), problem.request.job.trials
    hours, size = plan.time.expected_hours, plan.decisions.group_size or 1
    stay = _stay(problem, float(every), float(size), float(plan.time.steps), hours)
    tier = cheapest([tier for tier in tariff.tiers if tier.ready] or list(tariff.tiers), stay, free)
    part, written = charge(tier, stay, free), float(stay.written_gb) / trials
    kind: Kind = "elastic"
    if dimension == "network":
        text = f"{written:.4g} GB x {tier.upload_per_gb:g} USD/GB{runs(trials)}"
        return [BillLine(dimension="network", item=SENT, kind=kind, usd=float(part.uploaded), basis=text)]
    puts = float(stay.puts) / trials
    text = (
        f"{tier.name}: {written:.4g} GB, each held for a step, {max(float(stay.hours), tier.min_hours):.4g} h, x "
        f"{tier.usd_gb_hour:.4g} USD/GB/h"
    )
    text += f" / (1 - {free:g} kept free) + {puts:.6g} copies, one every {every} tokens, x {tier.put_usd:g} USD"
    usd = float(part.stored + part.requests)
    return [BillLine(dimension="storage", item=ITEM, kind=kind, usd=usd, basis=text + runs(trials))]
