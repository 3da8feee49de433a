"""What follows from a request: the sentences of ``rlopt check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rlopt.facts import Catalog
from rlopt.reports.check.acting import acting, value_model
from rlopt.reports.check.bill import bought, held, metrics, records, spending, texts, work
from rlopt.reports.check.defaults import defaults
from rlopt.reports.check.load import frames, loading
from rlopt.reports.check.models import choices_of_models, kernels, made_pairs
from rlopt.reports.check.recovery import recovery, trials, waiting, worst_case
from rlopt.request import TIGHTNESS, Floors, Request, Trainable, by_head
from rlopt.units import format_duration, format_size


def derived(request: Request, facts: Catalog) -> list[str]:
    """Say what was derived from a request, what holds by default, and where its floors come from."""
    models = (_job, target, compared, choices_of_models, kernels, made_pairs)
    of_the_run = (_run, acting, value_model, _lengths, _samples, _images)
    around_it = (trials, recovery, waiting, worst_case, work, metrics, texts, records, held, bought, spending)
    found = [sentence for part in (*models, *of_the_run) for sentence in part(request)]
    found += [*frames(request, facts), *loading(request, facts)]
    found += [sentence for part in (*around_it, _floors, _defaults) for sentence in part(request)]
    return [*found, *defaults(request, facts)]


def _job(request: Request) -> Iterator[str]:
    job = request.job
    roles = ", ".join(f"{role} {ref.label}" for role, ref in job.models.given().items())
    yield f"job {job.name}: {job.algorithm}, {_trained(job.trainable)}, with {job.optimizer}; models: {roles}"


def _trained(trainable: Trainable) -> str:
    if trainable.kind == "lora":
        return f"LoRA of rank {trainable.lora_rank} on a {trainable.base} base"
    return "all weights trained" if trainable.kind == "full" else f"frozen: {', '.join(trainable.frozen)}"


def _run(request: Request) -> Iterator[str]:
    job = request.job
    if job.convergence is not None and not by_head(job.convergence):
        table = ", ".join(f"{size}: {job.steps_for(size)}" for size in request.group_sizes)
        yield f"steps by group size: {table}"
        named = request.choices.group_size or ()
        excluded = [str(size) for size in named if size not in request.group_sizes]
        if excluded:
            yield f"group sizes without an entry in job.convergence are excluded: {', '.join(excluded)}"
    elif job.convergence is None and job.value_convergence is None:
        source = "as given"
        if job.steps is None:
            samples = job.data.new_samples if job.data.incremental else job.dataset_samples
            source = f"ceil({job.epochs:g} epochs × {samples} samples / {job.prompts_per_step} per step)"
        yield f"steps: {job.steps_for(None, cleaned=True)} ({source})"
        dirty, clean = job.steps_for(None, cleaned=False), job.steps_for(None, cleaned=True)
        if dirty != clean and not job.data.cleaned:
            choice = "cleaning is a decision" if job.cleaning_is_open else "the data are not cleaned"
            yield f"steps on dirty data: {dirty} ({job.data.extra_epochs_if_dirty:.0%} more); {choice}"
    if job.trials > 1:
        yield f"{job.trials} full runs are billed; hours are those of one"


def _lengths(request: Request) -> Iterator[str]:
    """How responses change over the run, and what that is used for."""
    text = request.job.response_tokens
    if text.last != text.mean:
        yield (
            f"the mean response moves evenly from {text.mean:,.6g} to {text.last:,.6g} tokens over the run, "
            f"{text.average:,.6g} on average, {text.max:,} at most: hours and bill are those of the whole run"
        )


def _samples(request: Request) -> Iterator[str]:
    job = request.job
    unit = {"dpo": "pairs", "rm": "pairs", "sft": "sequences", "vla": "trajectories"}.get(job.algorithm, "samples")
    for size in request.group_sizes:
        count = job.prompts_per_step * size
        kept = count * (1.0 - job.filter.drop) / job.updates_per_step
        group = f" at K = {size} samples a prompt" if job.generates and job.algorithm != "vla" else ""
        yield f"{count} {unit} a step{group}, {kept:g} per policy update"
    if request.informative_floor is not None:
        yield (
            f"K >= {request.informative_floor} by floors.informative_groups: "
            f"1 - p^K - (1-p)^K >= {request.floors.informative_groups:g} at p = {job.pass_rate:g}"
        )
    floor = request.group_size_floor
    if floor is not None and job.generates and all(size < floor for size in request.group_sizes):
        yield f"no group size in choices reaches the floor of {floor}: the request cannot be met as it stands"
    if request.dataset_bytes:
        yield f"data set: {format_size(request.dataset_bytes)} before compression"


def _images(request: Request) -> Iterator[str]:
    job = request.job
    if job.vision is not None:
        yield (
            f"{job.vision.tokens} image tokens per observation ({job.vision.cameras} × {job.vision.tokens_per_image})"
        )
    if job.action is not None:
        seconds = job.action.chunk / job.action.frequency
        yield f"one inference every {format_duration(seconds)} of robot time ({job.action.chunk} actions)"


def _floors(request: Request) -> Iterator[str]:
    if request.presets:
        yield f"extends, in this order: {', '.join(request.presets)}"
    by_origin = sorted((origin, floor) for floor, origin in request.floor_origins.items())
    for origin, pairs in groupby(by_origin, key=lambda pair: pair[0]):
        named = [f"{floor} {_value(request.floors, floor)}" for _, floor in pairs]
        yield f"floors from {origin}: {', '.join(named)}"
    if not any(_value(request.floors, floor) for floor in TIGHTNESS):
        yield "no floors are set: extends: [...] brings those of a preset"
    for reason in request.reasons:
        yield f"loosened or explained: {reason}"


def _value(floors: Floors, floor: str) -> str:
    record: object = floors
    for step in floor.split("."):
        record = getattr(record, step)
    if record is None:
        return ""
    if floor.endswith("recovery_time") and isinstance(record, float):
        return format_duration(record)
    return f"{record:g}" if isinstance(record, float) else str(record)


def _defaults(request: Request) -> Iterator[str]:
    """Name the defaults that move the bill."""
    written = request.source.places
    job, costs, limits = request.job, request.costs, request.limits
    if job.models.reference is not None and "job.models.reference" not in written:
        yield "job.models.reference is not given: policy, a frozen copy that is kept and scored"
    if job.generates and "choices.group_size" not in written:
        yield f"choices.group_size is not given: {', '.join(map(str, request.group_sizes))}"
    if job.generates and "choices.precision" not in written:
        yield "choices.precision is not given: rollout bf16 or fp8, scoring and training bf16"
    if job.models.value is not None and job.models.value.is_model and job.value_stride is None:
        yield f"job.value_stride is not given: one score per inference ({job.value_stride_seconds:g} s)"
    if limits.deadline is None:
        yield "no deadline is set: the cheapest plan may take long"
    if limits.max_gpus is None:
        yield "limits.max_gpus is not set: the number of GPUs is bounded by offers and quotas alone"
    if costs.engineer_hour is None:
        yield "costs.engineer_hour is not given: people are not on the bill"
    if job.data.new_samples and job.data.label_price is None:
        yield "job.data.label_price is not given: new samples cost nothing"
    yield f"kept after the run: {_kept(request)}"


def _kept(request: Request) -> str:
    keep = request.costs.keep_for
    pairs: Sequence[tuple[str, float]] = (
        ("checkpoints", keep.checkpoints),
        ("logs", keep.logs),
        ("data set", keep.dataset),
    )
    return ", ".join(f"{name} {format_duration(seconds)}" for name, seconds in pairs)


def target(request: Request) -> Iterator[str]:
    """Say how many points the target moves, and what a point is where it looks like a share."""
    aim = request.job.target
    if aim is None:
        return
    share = all(0.0 <= reading <= 1.0 for reading in (aim.from_, aim.to))
    unit = "; a point is 1 of the metric as written: write percent to count points of percent" if share else ""
    yield (
        f"target: {aim.metric} from {aim.from_:g} to {aim.to:g}, {aim.points:g} points{unit}; "
        "the plan says what one costs, all trials included"
    )


def compared(request: Request) -> Iterator[str]:
    """Say which algorithms the request states keys for."""
    if request.compare:
        yield f"keys of their own for {', '.join(request.compare)}: read by rlopt compare, in no plan of this request"
