"""What the job is for, and what it is compared with, in the words of a check."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.request import Request


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
