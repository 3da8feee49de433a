"""The average over a run: exact where it can be, and never further off than it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.estimates.loop.run_average import PARTS, SHARES, averaged

JUMPS = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 50.0)), max_size=6)


def test_what_moves_evenly_is_averaged_exactly() -> None:
    assert float(averaged(3.0 + 8.0 * SHARES)) == pytest.approx(7.0, rel=1e-15)
    assert averaged(np.array([[5.0], [7.0]])).tolist() == [5.0, 7.0]


@given(JUMPS, st.floats(0.0, 5.0))
def test_of_steps_upwards_it_is_off_by_no_more_than_its_bound(jumps: list[tuple[float, float]], slope: float) -> None:
    values, exact = slope * SHARES, slope / 2.0
    for at, height in jumps:
        values = values + height * (at <= SHARES)
        exact += height * (1.0 - at)
    whole = slope + sum(height for _, height in jumps)
    assert abs(float(averaged(values)) - exact) <= whole / (2 * PARTS) * (1 + 1e-9) + 1e-12


def test_the_bound_is_reached() -> None:
    late = 1.0 * (SHARES[7] <= SHARES)
    assert float(averaged(late)) - (1.0 - SHARES[7]) == pytest.approx(1.0 / (2 * PARTS))
