"""Text that a run writes: a share of all samples, the abnormal ones, steps that are debugged, and spans of traces.

With r = text_log_rate, a = share of samples abnormal and kept, d = share that a debugged step keeps, each chosen on
its own: share logged beside the sample = (1 - r) · a, and of debugged steps (1 - r) · (1 - a) · d more.
Traces: spans of a step · share kept · bytes of a span · steps, whatever the samples.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlopt.answers.plan import PlannedRun
from rlopt.costs.contract import by_variant, variant_of
from rlopt.costs.stored.tiers import Stay, Values
from rlopt.problem import Columns, Floats, Problem
from rlopt.units import bytes_to_gb, seconds_to_hours
from rlopt.workloads.policy_loss import unrolled
from rlopt.workloads.variants import Variant

SAMPLED, ABNORMAL, DEBUGGED = "text log", "abnormal samples", "debugged steps"
TRACES = "traces"
"""Spans of requests, tools and links, taken in and kept as text is."""
FILES = (SAMPLED, ABNORMAL, DEBUGGED)
"""Texts that may be files in a store instead of records of a logging service."""


def gb_per_sample(problem: Problem, variant: Variant | None = None) -> float:
    """GB of one sample's text; what a loss runs through several times is written once.

    ``variant`` is the way to run the job; where no head is chosen all ways write alike.
    """
    workload = problem.workload if variant is None or variant.action_head is None else variant.workload
    lengths, acts = workload.stages[-1].lengths, workload.acting
    again = 0 if acts is None else acts.action_tokens * (unrolled(problem.request, acts) - 1)
    tokens = (lengths.mean - again) * max(stage.per_sample for stage in workload.stages)
    return bytes_to_gb(tokens * problem.request.costs.bytes_per_token)


def gb_by_column(columns: Columns, problem: Problem) -> Values:
    """The same by column; one number where no head is chosen."""
    if all(variant.action_head is None for variant in problem.variants):
        return gb_per_sample(problem)
    return by_variant(columns, problem, lambda variant, _: gb_per_sample(problem, variant))


def text_gb(problem: Problem, one: Values, samples: Values, steps: Values, rate: float) -> dict[str, Values]:
    """GB of text that one run logs by reason; ``samples`` of one step of ``one`` GB each, numbers or (columns,)."""
    log = problem.request.job.text_log
    abnormal = log.abnormal_share * log.anomalies
    debugged = np.minimum(steps, log.debug_steps)
    return {
        SAMPLED: samples * steps * (rate * one),
        ABNORMAL: samples * steps * ((1.0 - rate) * abnormal * one),
        DEBUGGED: samples * debugged * ((1.0 - rate) * (1.0 - abnormal) * log.debug_rate * one),
        TRACES: steps * bytes_to_gb(problem.request.job.metrics.traces.bytes_per_step),
    }


def in_store(problem: Problem) -> bool:
    """Whether texts of samples are files in a store."""
    return problem.request.job.text_log.kept_in == "store"


def to_service(problem: Problem, texts: Mapping[str, Values]) -> dict[str, Values]:
    """What a logging service takes in of ``texts``, GB by reason."""
    return {item: gb for item, gb in texts.items() if item not in FILES or not in_store(problem)}


def text_stays(problem: Problem, texts: Mapping[str, Values], hours: Values, steps: Values) -> dict[str, Stay]:
    """Texts that are files, all runs: written evenly over a run, one file of each kind a step, read by people alone.

    They stand at hand while a run lasts and may move to a colder tier afterwards.
    """
    if not in_store(problem):
        return {}
    trials, debugged = problem.request.job.trials, np.minimum(steps, problem.request.job.text_log.debug_steps)
    found = {}
    for item in FILES:
        gb, files = texts[item] * trials, (debugged if item == DEBUGGED else steps) * trials
        if np.any(gb):
            kept = hours / 2.0 + kept_hours(problem, item)
            found[item] = Stay(gb, kept, written_gb=gb, puts=files, busy=hours, files=files)
    return found


def kept_hours(problem: Problem, item: str) -> float:
    """Hours that a kind of text is kept after the run."""
    keep = problem.request.costs.keep_for
    return seconds_to_hours(keep.full_text if item == DEBUGGED else keep.logs)


def billed_hours(hours: Values, kept: float, free: float) -> Floats:
    """Mean hours that are charged of text written evenly over ``hours`` and kept ``kept`` hours more.

    Its age when it is deleted is uniform between kept and kept + hours; the first ``free`` hours cost nothing.
    """
    span = np.maximum(np.asarray(hours, dtype=np.float64), 1e-12)
    beyond, before = np.maximum(span + kept - free, 0.0), max(kept - free, 0.0)
    return np.asarray((beyond - before) * (beyond + before) / (2.0 * span))


def logged_by_column(columns: Columns, problem: Problem) -> dict[str, Values]:
    """GB of text of one run by reason, by column; the text rate stands at its floor."""
    samples = (problem.workload.prompts_per_step * columns.group_size).astype(np.float64)
    rate = problem.request.floors.text_log_rate or 0.0
    return text_gb(problem, gb_by_column(columns, problem), samples, columns.steps.astype(np.float64), rate)


def logged(plan: PlannedRun, problem: Problem) -> dict[str, Values]:
    """The same of a finished plan."""
    samples = problem.workload.prompts_per_step * (plan.decisions.group_size or 1)
    one = gb_per_sample(problem, variant_of(plan, problem))
    return text_gb(problem, one, samples, plan.time.steps, plan.decisions.logging.text_log_rate)
