"""Logging: text taken in and kept, by the reason it is kept for, metrics by series or by size, and dashboards.

USD = GB · (ingest + price [USD/GB/h] · hours kept beyond the free ones); text and points accrue over the run, so they
are held half of it on average before the retention begins.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import Terms, runs, told, variant_of
from rlopt.costs.dashboards import DASHBOARDS, basis, months, usd_per_month
from rlopt.costs.metrics import HARDWARE, TRAINER, Written, left_share, metered_usd, written
from rlopt.costs.stored.copies import tariff_of
from rlopt.costs.stored.tiers import Values, added
from rlopt.costs.text_log import (
    ABNORMAL,
    DEBUGGED,
    SAMPLED,
    TRACES,
    billed_hours,
    gb_per_sample,
    kept_hours,
    logged,
    logged_by_column,
    text_gb,
    to_service,
)
from rlopt.problem import Columns, Floats, Ints, Problem
from rlopt.problem.tariff import Tariff
from rlopt.units import HOURS_PER_MONTH, bytes_to_gb, seconds_to_hours

DIMENSION = "logging"


def terms(columns: Columns, problem: Problem) -> Terms:
    """Text, metrics, dashboards, USD by column. The text rate stands at its floor: no more text makes a plan better."""
    trials, hours = problem.request.job.trials, columns.expected_hours
    steps, gpus = columns.steps.astype(np.float64), columns.gpus.astype(np.float64)
    texts = to_service(problem, logged_by_column(columns, problem))
    points = written(problem, steps, gpus, hours)
    found = {item: np.zeros(len(columns)) for item in (*texts, *points)}
    alike, tariffs = _alike(problem)
    number = alike[columns.zone]
    for one in np.unique(number):
        here, tariff = np.flatnonzero(number == one), tariffs[one]
        for item, gb in texts.items():
            kept = billed_hours(hours[here], kept_hours(problem, item), tariff.log_free_hours)
            found[item][here] = trials * _at(gb, here) * (tariff.log_ingest_per_gb + tariff.log_gb_hour * kept)
        for item, wrote in points.items():
            if tariff.metering is not None:
                some = Written(_at(wrote.series, here), _at(wrote.points, here))
                usd = metered_usd(tariff.metering, some, hours[here], problem.request.costs.keep_for.logs)
                found[item][here] = trials * usd
    return {**found, DASHBOARDS: np.asarray(usd_per_month(problem) * months(problem, hours))}


def _alike(problem: Problem) -> tuple[Ints, list[Tariff]]:
    """Number of each zone's way to bill logs, shape (zones,), and a tariff of each: few zones have one of their own."""
    keys: dict[Hashable, int] = {}
    found: list[Tariff] = []
    numbers = []
    for tariff in problem.tariffs:
        metering = tariff.metering
        metered = metering and (metering.usd_series_hour, metering.usd_per_gb, metering.usd_gb_hour)
        kept = metering and (metering.free_hours, metering.point_bytes)
        key = (tariff.log_ingest_per_gb, tariff.log_gb_hour, tariff.log_free_hours, metered, kept)
        if key not in keys:
            keys[key] = len(found)
            found.append(tariff)
        numbers.append(keys[key])
    return np.array(numbers, dtype=np.int64), found


def _at(values: Values, here: np.ndarray) -> Values:
    return values[here] if isinstance(values, np.ndarray) else values


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Text and metrics of a finished plan; no line where nothing is written."""
    tariff = tariff_of(plan, problem)
    return [*_texts(plan, problem, tariff), *_metrics(plan, problem, tariff), *_dashboards(plan, problem)]


def _dashboards(plan: PlannedRun, problem: Problem) -> Iterator[BillLine]:
    month = usd_per_month(problem)
    if not month:
        return
    hours = plan.time.expected_hours
    usd = month * float(months(problem, hours))
    yield BillLine(dimension="logging", item=DASHBOARDS, kind="fixed", usd=usd, basis=basis(problem, hours))


def _texts(plan: PlannedRun, problem: Problem, tariff: Tariff) -> Iterator[BillLine]:
    rate, log, trials = plan.decisions.logging.text_log_rate, problem.request.job.text_log, problem.request.job.trials
    samples, steps = problem.workload.prompts_per_step * (plan.decisions.group_size or 1), plan.time.steps
    what = {
        SAMPLED: f"{samples} samples x {steps} steps{runs(trials)} x {rate:g} logged",
        ABNORMAL: f"{samples} samples x {steps} steps{runs(trials)} x {log.abnormal_share:g} abnormal x "
        f"{log.anomalies:g} kept x {1.0 - rate:g} not logged yet",
        DEBUGGED: f"{samples} samples x {min(steps, log.debug_steps)} debugged steps{runs(trials)} x "
        f"{log.debug_rate:g} logged x {(1.0 - rate) * (1.0 - log.abnormal_share * log.anomalies):g} not logged yet",
    }
    spans, one = problem.request.job.metrics.traces, gb_per_sample(problem, variant_of(plan, problem))
    what[TRACES] = f"{spans.spans_per_step} spans x {spans.sample_rate:g} kept x {steps} steps{runs(trials)}"
    sizes = {TRACES: bytes_to_gb(spans.bytes_per_span)}
    for item, gb in to_service(problem, text_gb(problem, one, samples, steps, rate)).items():
        if not gb:
            continue
        kept = float(billed_hours(plan.time.expected_hours, kept_hours(problem, item), tariff.log_free_hours))
        total = float(gb) * trials
        yield BillLine(
            dimension="logging",
            item=item,
            kind="elastic",
            usd=total * (tariff.log_ingest_per_gb + tariff.log_gb_hour * kept),
            basis=f"{tariff.log_name}: {what[item]} x {sizes.get(item, one) * 1e9:.0f} B = {total:.4g} GB x "
            f"({tariff.log_ingest_per_gb:g} USD/GB taken in + {tariff.log_gb_hour * HOURS_PER_MONTH:g} "
            f"USD/GB/month x {kept:g} h){told(tariff.log_note)}",
        )


def _metrics(plan: PlannedRun, problem: Problem, tariff: Tariff) -> Iterator[BillLine]:
    metering, asked, trials = tariff.metering, problem.request.job.metrics, problem.request.job.trials
    if metering is None:
        return
    gpus, hours, steps = sum(pool.gpus for pool in plan.pools), plan.time.expected_hours, plan.time.steps
    what = {
        TRAINER: _points_in_words(asked.every, steps, left_share(problem)),
        HARDWARE: f"{asked.hardware} of each of {gpus} GPUs, a point every {asked.hardware_every:g} s",
    }
    for item, wrote in written(problem, steps, gpus, hours).items():
        if not wrote.series:
            continue
        keep = problem.request.costs.keep_for.logs
        usd = float(metered_usd(metering, wrote, hours, keep)) * trials
        gb = float(wrote.points) * bytes_to_gb(metering.point_bytes)
        if metering.usd_series_hour:
            month = metering.usd_series_hour * HOURS_PER_MONTH
            price = f"{hours:.3f} h x {month:g} USD a series and month"
        else:
            kept = float(billed_hours(hours, seconds_to_hours(keep), metering.free_hours))
            month = metering.usd_gb_hour * HOURS_PER_MONTH
            price = (
                f"{float(wrote.points):.4g} points x {metering.point_bytes:g} B = {gb:.4g} GB x "
                f"({metering.usd_per_gb:g} USD/GB + {month:g} USD/GB/month x {kept:g} h)"
            )
        yield BillLine(
            dimension="logging",
            item=item,
            kind="elastic",
            usd=usd,
            basis=f"{metering.name}: {float(wrote.series):g} series ({what[item]}), {price}{runs(trials)}"
            f"{told(metering.note)}",
        )


def _points_in_words(every: int, steps: int, left: float) -> str:
    """``a point at each of 60 steps``, ``a point at one in 10 of 60 steps, 0.75 of the points kept``."""
    at = "each" if every == 1 else f"one in {every}"
    return f"a point at {at} of {steps} steps" + ("" if left == 1.0 else f", {left:g} of the points kept")


def leaving_usd(columns: Columns, problem: Problem) -> Floats:
    """Traffic of text and metrics to a service of another provider, USD by column."""
    trials = problem.request.job.trials
    steps, gpus = columns.steps.astype(np.float64), columns.gpus.astype(np.float64)
    text = added(len(columns), to_service(problem, logged_by_column(columns, problem)).values())
    wrote = written(problem, steps, gpus, columns.expected_hours)
    points = added(len(columns), (one.points for one in wrote.values()))
    log = np.array([tariff.log_egress_per_gb for tariff in problem.tariffs])[columns.zone]
    metered = [
        (t.metering.egress_per_gb, t.metering.point_bytes) if t.metering else (0.0, 0.0) for t in problem.tariffs
    ]
    egress, size = np.array(metered).reshape(-1, 2).T
    return np.asarray(trials * (text * log + points * bytes_to_gb(1.0) * size[columns.zone] * egress[columns.zone]))


def leaving_lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """The same of a finished plan; no line where the logs stay inside the provider."""
    tariff, trials = tariff_of(plan, problem), problem.request.job.trials
    metering, steps = tariff.metering, plan.time.steps
    text = sum(float(gb) for gb in to_service(problem, logged(plan, problem)).values())
    gpus = sum(pool.gpus for pool in plan.pools)
    wrote = written(problem, steps, gpus, plan.time.expected_hours).values()
    points = 0.0 if metering is None else sum(float(w.points) for w in wrote) * bytes_to_gb(metering.point_bytes)
    egress = 0.0 if metering is None else metering.egress_per_gb
    usd = trials * (text * tariff.log_egress_per_gb + points * egress)
    if not usd:
        return []
    words = (
        f"({text:.4g} GB of text x {tariff.log_egress_per_gb:g} USD/GB + "
        f"{points:.4g} GB of metrics x {egress:g} USD/GB){runs(trials)}"
    )
    if tariff.log_way:
        words += f" {tariff.log_way}"
    return [BillLine(dimension="network", item="logs out of the cloud", kind="elastic", usd=usd, basis=words)]
