"""Sentences on what a request pays around its records and data: traces, dashboards, logs that leave, new samples."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.request import Request
from rlopt.units import format_size


def records(request: Request) -> Iterator[str]:
    """Say what is traced, watched and sent elsewhere."""
    traces, costs = request.job.metrics.traces, request.costs
    if traces.spans_per_step:
        kept = f"{traces.spans_per_step} spans a step, {traces.sample_rate:.0%} of them kept"
        yield f"traces: {kept}, {format_size(traces.bytes_per_step)} a step at {traces.bytes_per_span:g} B a span"
    if costs.dashboards is not None:
        views = costs.dashboards
        counted = ((views.panels, "panels", views.price), (views.users, "users", views.of_a_user))
        each = ", ".join(f"{count} {name} at {money} a month each" for count, name, money in counted if count)
        yield f"dashboards: {each}, for the hours of all runs and the time that logs are kept"
    if costs.logs_to is not None:
        where = f"{costs.logs_to.provider} {costs.logs_to.region}"
        yield f"logs go to {where}: those of pools in another region or cloud pay for the way"


def bought(request: Request) -> Iterator[str]:
    """Say what new samples, checks and tools are paid."""
    job, data = request.job, request.job.data
    if data.new_samples and data.accepted_share < 1.0:
        lost = data.collected - data.new_samples
        yield f"{data.collected} samples are collected and labelled for {data.new_samples}: {lost} are rejected"
    if data.inspect is not None:
        of = "the samples collected" if data.new_samples else "the data set"
        yield f"{data.inspect.share:.0%} of {of} are checked by hand at {data.inspect.price} each"
    if data.tools is not None:
        yield f"data tools: {data.tools} a month, for the hours of all runs"
    if job.evaluation is not None and job.evaluation.build_price is not None:
        yield f"the evaluation set is built once for {job.evaluation.build_price}"
