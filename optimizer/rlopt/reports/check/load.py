"""Sentences on what images take, and on how samples of a data set reach a step."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.facts import Catalog
from rlopt.request import Request
from rlopt.units import format_duration, format_size


def frames(request: Request, facts: Catalog) -> Iterator[str]:
    """Say how the bytes of a trajectory follow from its images."""
    job, data = request.job, request.job.data
    seen, length, stride = job.vision, job.trajectory, job.value_stride_seconds
    if seen is None or length is None or not stride:
        return
    count, pixels = job.frames_per_trajectory, seen.image_size**2
    if seen.bytes_per_frame is not None:
        image, why = seen.bytes_per_frame * data.compression_ratio, "job.vision.bytes_per_frame"
        why += f" × {data.compression_ratio:g}" if data.compression_ratio < 1.0 else ""
    elif data.compression_ratio < 1.0:
        image, why = 3.0 * pixels * data.compression_ratio, f"3 bytes a pixel × {data.compression_ratio:g}"
    else:
        per_pixel = facts.operations.encoded_image_bytes_per_pixel
        image, why = (
            pixels * per_pixel,
            f"job.vision.bytes_per_frame is not given: {per_pixel:g} bytes a pixel, assumed",
        )
    kept = 1.0 - job.filter.drop if job.filter.before_storage else 1.0
    total = image * seen.cameras * count * kept * (1.0 - data.duplicate_share)
    stored = f"{count:g}" if kept == 1.0 else f"{count * kept:g} of {count:g}"
    yield (
        f"an image takes {format_size(image)} ({why}); a trajectory of {format_duration(length.mean)} stores {stored} "
        f"frames of {seen.cameras} {'camera' if seen.cameras == 1 else 'cameras'}, {format_size(total)}"
    )


def loading(request: Request, facts: Catalog) -> Iterator[str]:
    """Say what each step reads from the data set, and what prepares it."""
    job, prepare = request.job, request.job.data.prepare
    if job.generates and not job.reads_stored:
        return
    unit = {"sft": "sequence", "vla": "stored trajectory"}.get(job.algorithm, "pair")
    where = " or ".join(request.choices.data_store)
    if "choices.data_store" in request.source.places:
        yield f"each step reads its samples from the store: {where}"
    if job.algorithm != "vla" and {"choices.data_store", "job.data.prepare"} & set(request.source.places):
        yield f"a {unit} is read as {format_size(_sample(request))} ({_sample_basis(request)})"
    if not prepare.vcpu_seconds_per_sample:
        if "job.data.prepare" in request.source.places:
            yield "job.data.prepare.vcpu_seconds_per_sample is not given: decoding and shuffling take no time"
        return
    given = prepare.host_share
    share = facts.nodes.loading_host_share if given is None else given
    yield (
        f"preparing a {unit} takes {prepare.vcpu_seconds_per_sample:g} vCPU seconds, on {share:.0%} of the training "
        f"machines' processors{'' if given is not None else ' (assumed)'} and on preparation machines whose number is "
        "a decision"
    )


def _sample(request: Request) -> float:
    return request.job.sample_bytes(request.costs.bytes_per_token) * request.job.data.compression_ratio


def _sample_basis(request: Request) -> str:
    """Where the size of a sample comes from."""
    job, ratio = request.job, request.job.data.compression_ratio
    known = job.dataset_size is not None and job.dataset_samples is not None
    text = (
        "job.dataset_size / job.dataset_samples"
        if known
        else f"its tokens, {request.costs.bytes_per_token:g} bytes each"
    )
    if job.dataset_size is not None and not known:
        text += "; job.dataset_samples is not given"
    return f"{text} × {ratio:g}" if ratio < 1.0 else text
