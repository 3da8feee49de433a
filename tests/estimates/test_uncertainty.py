"""Error bands by kind, architecture, engine and GPU type."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates.uncertainty import (
    KIND_OF_STAGE,
    is_measured,
    measured_devices,
    planned_sigma,
    sigma_of,
)
from tests.estimates.parts import calibration, catalog

CAL = calibration()


def test_bands_widen_for_unmeasured_gpus_and_experts() -> None:
    cards = ("H100-SXM", "MI350X", "T4")
    assert set(cards) <= set(catalog().devices)

    def sigma(kind: str, moe: bool) -> np.ndarray:
        return np.array([sigma_of(kind, name, "", moe, CAL) for name in cards])

    for kind in ("update", "forward", "generation", "generate", "rl", "memory", "transfer", "save", "environment"):
        dense, moe = sigma(kind, False), sigma(kind, True)
        assert (dense > 0).all(), kind
        assert (moe > 0).all(), kind
    for kind in ("update", "generation", "rl"):
        known, unseen, _ = sigma(kind, False)
        assert unseen >= CAL.bands[KIND_OF_STAGE.get(kind, kind)]["dense"]["new_device"] >= known * 0.5
    assert sigma("forward", True) == pytest.approx(sigma("update", True))


def test_what_was_never_measured_is_never_surer() -> None:
    for kind in ("training", "generation", "rl"):
        for moe in (False, True):
            known = sigma_of(kind, "", "", moe, CAL)
            assert sigma_of(kind, "a new card", "", moe, CAL) >= known
            assert sigma_of(kind, "", "a new engine", moe, CAL) >= known
            assert sigma_of(kind, "", "", moe, CAL, known_model=False) >= known


def test_a_loop_knows_a_gpu_that_its_stage_was_measured_on() -> None:
    """L40S served models in measurements, no sampling loop; a T4 did neither."""
    assert "L40S" in measured_devices("generation", CAL)
    assert "L40S" not in measured_devices("rl", CAL)
    known = planned_sigma("generation", "L40S", False, CAL, loop=True)
    assert known == pytest.approx(sigma_of("rl", "", "", False, CAL))
    assert planned_sigma("generation", "T4", False, CAL, loop=True) >= known
    assert is_measured("generation", "L40S", CAL, loop=True)
    assert not is_measured("generation", "T4", CAL, loop=True)
    assert planned_sigma("training", "T4", False, CAL, loop=False) == sigma_of("training", "T4", "", False, CAL)
