"""Sentences on what a request logs, holds, keeps, sends elsewhere, buys, releases and may spend."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.request import Request
from rlopt.units import format_duration, format_size


def metrics(request: Request) -> Iterator[str]:
    """Say which series are written, how often, and whether the floors allow that."""
    found, floor = request.job.metrics, request.floors.core_metrics.every
    series = f"{found.scalars} series"
    series += "".join(
        f", {count} {name}"
        for count, name in ((found.histograms, "histograms"), (found.intermediates, "of intermediate variables"))
        if count
    )
    pace = "every step" if found.every == 1 else f"every {found.every} steps"
    if found.thin_after < 1.0:
        pace += f", {found.thin_to:.0%} of that after {found.thin_after:.0%} of the run"
    hardware = f"{found.hardware} of each GPU every {format_duration(found.hardware_every)}"
    given = any(key.startswith("job.metrics") for key in request.source.places)
    head = "metrics" if given else "job.metrics is not given"
    yield f"{head}: {series} {pace}; {hardware if found.hardware else 'none of the hardware'}"
    if floor is not None and found.longest_gap_steps > floor:
        yield (
            f"metrics are {found.longest_gap_steps:g} steps apart and floors.core_metrics asks for {floor}: "
            "the request cannot be met as it stands"
        )


def texts(request: Request) -> Iterator[str]:
    """Say which text is logged beside the sampled share."""
    log = request.job.text_log
    if log.abnormal_share:
        yield f"{log.anomalies:.0%} of the {log.abnormal_share:.2%} of samples that are abnormal are logged in full"
    if log.debug_steps:
        kept = format_duration(request.costs.keep_for.full_text)
        yield f"{log.debug_steps} steps are debugged: {log.debug_rate:.0%} of their samples in full, kept {kept}"


def work(request: Request) -> Iterator[str]:
    """Say what is trained beside the job itself, and what falls back to bf16."""
    job = request.job
    if job.remedial_share:
        yield f"{job.remedial_share:.0%} more tokens are trained against forgetting"
    if job.fallback.share_of_steps:
        yield f"{job.fallback.share_of_steps:.0%} of steps score and sample at bf16 instead of a lower precision"
    if job.environment is not None and job.environment.instances is None:
        yield "job.environment.instances is not given: their number is a decision"
    if job.value_convergence is not None:
        table = ", ".join(f"{bins}: {job.steps_for(value_bins=bins)}" for bins in request.value_bins)
        yield f"steps by value bins: {table}"
    elif request.value_bins and "choices.value_bins" not in request.source.places:
        yield f"choices.value_bins is not given: {', '.join(map(str, request.value_bins))}, the floor"


def held(request: Request) -> Iterator[str]:
    """Say what stands in a fast store, and how the data set is kept."""
    job, floor = request.job, request.floors.data_precision
    if job.cache is not None:
        held_bytes = format_size(job.cache.held_bytes)
        yield f"held in a fast store: {held_bytes}, {job.cache.peak_ops:g} operations a second at the peak"
    versions = job.data.versions
    if versions is not None:
        raw = ", beside the raw data" if versions.raw_kept else ""
        what = f"{versions.changed_share:.0%} changed each, kept as {versions.copies} copies{raw}"
        yield f"versions of the data set: {versions.count}, {what}"
    often = job.data.accesses_per_month
    if any((often.hot, often.warm, often.cold)):
        yield (
            f"stored data are read beside the runs: {often.hot:g} times a month the version in use, {often.warm:g} the "
            f"three before it, {often.cold:g} older ones and raw data"
        )
    yield from _stores(request)
    yield from _backups(request)
    yield from _compression(request)
    if job.data.shared_by > 1:
        yield f"the data set is shared by {job.data.shared_by} projects: each pays its part of the storage"
    if job.data.stands_in is not None:
        where = f"{job.data.stands_in.provider} {job.data.stands_in.region}"
        yield f"the data set stands in {where}: reading it from elsewhere is traffic"
    if floor is not None and job.data.precision.rank < floor.rank:
        yield (
            f"data are stored as {job.data.precision} and floors.data_precision asks for {floor}: "
            "the request cannot be met as it stands"
        )


def spending(request: Request) -> Iterator[str]:
    """Say which dimensions have budgets, and how machines are given back."""
    parts = request.limits.budget_parts
    if parts:
        yield f"budgets by dimension: {', '.join(f'{name} {money}' for name, money in parts.items())}"
    idle = request.costs.idle
    by_hand = "the catalog's idle time" if idle.before_release is None else format_duration(idle.before_release)
    if idle.automatic is not None:
        script = f"by a script within {format_duration(idle.automatic.within)}"
        yield f"release after {by_hand}, or {script} ({idle.automatic.setup_hours:g} h to set up): a decision"
    if idle.volumes:
        yield f"disks outlive the run by {format_duration(idle.volumes)}"


def _backups(request: Request) -> Iterator[str]:
    """Say what is backed up and what earlier trainings leave."""
    data = request.job.data
    asked = data.backup
    if asked.mode != "none" and asked.every is not None:
        pace = f"every {format_duration(asked.every)} while runs last, the newest {asked.copies} kept"
        changed = "" if asked.mode == "full" else f", {asked.changed_share:.0%} changed each time"
        yield f"the data set is backed up ({asked.mode}) {pace}{changed}"
        if asked.mode == "full" and asked.copies > 1:
            yield "full backups hold the whole data set each: incremental ones or versioning hold what changed"
    if data.versions_kept:
        yield f"weights and added samples of {data.versions_kept} earlier trainings stay stored"


def _compression(request: Request) -> Iterator[str]:
    """Say what may be compressed, and what that would take."""
    kinds = request.job.compression
    for name, compression in ((name, getattr(kinds, name)) for name in type(kinds).model_fields):
        if compression is None:
            continue
        how = f"to {compression.ratio:.0%} for {compression.vcpu_seconds_per_gib:g} vCPU seconds a GiB each way"
        yield f"{name} are compressed {how} where that is cheaper"
        held = {"trajectories": request.job.algorithm == "vla", "intermediates": request.job.generates}
        if not held.get(name, True):
            yield f"job.compression.{name}: a {request.job.algorithm} job stores none"
        if name == "logs" and request.job.text_log.kept_in == "service":
            yield "job.compression.logs: a logging service takes texts as they are (job.text_log.kept_in)"


def _stores(request: Request) -> Iterator[str]:
    """Say what stores must state, and what requests to a key service cost."""
    asked, keys = request.limits.storage, request.costs.key_requests
    words = [name for name, wanted in (("encrypted at rest", asked.encrypted), ("private", asked.private)) if wanted]
    words += [f"in {' or '.join(asked.countries)}"] if asked.countries is not None else []
    if words:
        yield f"stores must be stated to be {', '.join(words)}: others are left out; machines' own disks are no stores"
    if keys is not None:
        yield f"each file written or read is a request to a key service, {keys} for 10,000 of them"
    elif asked.encrypted:
        yield "costs.key_requests is not given: keys of the store itself, no request to a key service is billed"


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
