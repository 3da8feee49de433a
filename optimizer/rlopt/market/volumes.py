"""Bytes that a job leaves behind: the data set in its versions, trajectories, what stands in a fast store."""

from __future__ import annotations

from rlopt.facts.operations import Operations
from rlopt.request import Request
from rlopt.workloads import Workload
from rlopt.workloads.acting import COLOURS


def version_bytes(request: Request) -> float:
    """One version of the data set as it is stored, bytes: raw size · compression ratio · (1 - share of duplicates)."""
    data = request.job.data
    return request.dataset_bytes * data.compression_ratio * (1.0 - data.duplicate_share)


def versions(request: Request) -> float:
    """Versions of the data set that are stored, in whole ones: all of them, or the first and what changed since."""
    kept = request.job.data.versions
    if kept is None:
        return 1.0
    return float(kept.count) if kept.copies == "full" else 1.0 + (kept.count - 1) * kept.changed_share


WARM_VERSIONS = 3
"""Versions before the one in use that count as warm; older ones and the raw data are cold."""


def dataset_parts(request: Request) -> tuple[float, float, float]:
    """Bytes stored of the data set, this project's part: the version in use, up to three before it, and the rest.

    Of copies in deltas a version holds what changed since the one before, so as much of the older one is superseded.
    """
    data, one = request.job.data, version_bytes(request)
    raw = request.dataset_bytes if data.versions is not None and data.versions.raw_kept else 0.0
    older = one * (versions(request) - 1.0)
    count = 0 if data.versions is None else data.versions.count - 1
    warm = older * min(WARM_VERSIONS, count) / count if count else 0.0
    return one / data.shared_by, warm / data.shared_by, (older - warm + raw) / data.shared_by


def dataset_bytes(request: Request) -> float:
    """All that is stored of the data set, this project's part: its versions, and the raw data where they are kept."""
    return sum(dataset_parts(request))


def frame_bytes(request: Request, workload: Workload, operations: Operations) -> float:
    """One stored frame of all cameras: raw pixels · compression ratio where one is given, else the encoded size.

    Where `job.vision.bytes_per_frame` says what an image takes, that · cameras · compression ratio.
    """
    acting, data, seen = workload.acting, request.job.data, request.job.vision
    if acting is None:
        return 0.0
    if seen is not None and seen.bytes_per_frame is not None:
        return seen.cameras * seen.bytes_per_frame * data.compression_ratio
    if data.compression_ratio < 1.0:
        return acting.frame_bytes * data.compression_ratio
    return acting.frame_bytes / COLOURS * operations.encoded_image_bytes_per_pixel


def trajectory_bytes(request: Request, workload: Workload, operations: Operations) -> float:
    """One trajectory as it is stored, its frames alone: actions and joint positions are small beside them."""
    if workload.acting is None:
        return 0.0
    frame = frame_bytes(request, workload, operations) * (1.0 - request.job.data.duplicate_share)
    return workload.acting.stored_frames * frame


def cached_bytes(request: Request, workload: Workload, operations: Operations) -> float:
    """What stands in the fast store; its replay buffer holds at least the trajectories that the floor asks for."""
    held = request.job.cache
    if held is None:
        return 0.0
    least = (request.floors.replay_buffer or 0) * trajectory_bytes(request, workload, operations)
    return held.held_bytes + max(least - held.replay, 0.0)
