"""Bytes of images, of trajectories and of the data set that they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.market.volumes import frame_bytes, trajectory_bytes, version_bytes
from rlopt.reports.check.sentences import derived
from rlopt.request import Request
from rlopt.workloads import build_workload
from tests.workloads import asked

FACTS = load_catalog()

Ask = Callable[..., Any]
SEEN = {"image_size": 448, "cameras": 3, "patch": 14, "tokens_per_image": 256, "bytes_per_frame": 20_000.0}


def sizes(job: dict[str, Any]) -> tuple[float, float]:
    """One frame of all cameras and one trajectory, as they are stored."""
    request = asked.request("vla", job)
    workload = build_workload(request, asked.models("vla"))
    operations = load_catalog().operations
    return frame_bytes(request, workload, operations), trajectory_bytes(request, workload, operations)


def test_images_are_as_large_as_stated() -> None:
    # 300 s at one frame a second, half of them stored, three cameras
    assert sizes({"vision": SEEN}) == (60_000.0, pytest.approx(150 * 60_000.0))


def test_a_compression_ratio_comes_on_top_of_the_encoding() -> None:
    plain, half = sizes({"vision": SEEN}), sizes({"vision": SEEN, "data": {"compression_ratio": 0.5}})
    assert half == (plain[0] / 2, pytest.approx(plain[1] / 2))


def test_without_it_an_image_takes_a_tenth_of_a_byte_a_pixel() -> None:
    seen = {key: value for key, value in SEEN.items() if key != "bytes_per_frame"}
    assert sizes({"vision": seen})[0] == pytest.approx(3 * 448 * 448 * 0.1)


def test_a_data_set_of_trajectories_follows_from_its_images() -> None:
    # every frame was stored when the data set was made: the filter is this job's
    job = {"vision": SEEN, "dataset_samples": 1000}
    request = asked.request("vla", job)
    assert request.dataset_bytes == pytest.approx(1000 * 300 * 3 * 20_000)
    assert version_bytes(asked.request("vla", job | {"data": {"compression_ratio": 0.5}})) == pytest.approx(9e9)
    assert asked.request("vla", job | {"dataset_size": 7e9}).dataset_bytes == 7e9
    unknown = {**job, "vision": {**SEEN, "bytes_per_frame": None}}
    assert asked.request("vla", unknown).dataset_bytes == 0.0


def lines(job: dict[str, Any]) -> list[str]:
    request: Request = asked.request("vla", job)
    return [line for line in derived(request, FACTS) if "an image takes" in line]


def test_check_says_how_the_bytes_follow() -> None:
    assert lines({"vision": SEEN}) == [
        "an image takes 19.53 KiB (job.vision.bytes_per_frame); a trajectory of 5min stores 150 of 300 frames of 3 "
        "cameras, 8.583 MiB"
    ]
    assert lines({"vision": {**SEEN, "bytes_per_frame": None}}) == [
        "an image takes 19.6 KiB (job.vision.bytes_per_frame is not given: 0.1 bytes a pixel, assumed); a trajectory "
        "of 5min stores 150 of 300 frames of 3 cameras, 8.613 MiB"
    ]
    assert lines({"vision": {**SEEN, "bytes_per_frame": None}, "data": {"compression_ratio": 0.01}})[0].startswith(
        "an image takes 5.88 KiB (3 bytes a pixel × 0.01); "
    )
