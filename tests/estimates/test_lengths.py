"""Cut lognormal lengths, against closed forms and sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.estimates import CutLognormal, Tokens
from rlopt.estimates.lengths import CV, MOST_CV
from rlopt.facts.files.folder import load_catalog


def test_the_default_spread_is_the_calibrations() -> None:
    assert load_catalog().calibration.generation["length_cv"] == CV


@given(mean=st.floats(10.0, 5000.0), room=st.floats(1.05, 50.0))
def test_mean_and_maximum_are_both_honoured(mean: float, room: float) -> None:
    lengths = CutLognormal.of(mean, mean * room)
    assert lengths.moment(1) == pytest.approx(mean, rel=1e-4)
    assert lengths.survival(mean * room) == 0.0
    assert mean**2 <= lengths.moment(2) <= mean * mean * room * 1.0001


def test_moments_quantiles_and_survival_match_a_sample() -> None:
    lengths = CutLognormal.of(900.0, 3584.0)
    drawn = np.minimum(np.exp(lengths.mu + lengths.s * np.random.default_rng(0).standard_normal(400_000)), 3584.0)
    assert drawn.mean() == pytest.approx(900.0, rel=0.01)
    assert (drawn**2).mean() == pytest.approx(lengths.moment(2), rel=0.01)
    assert (drawn > 2000.0).mean() == pytest.approx(lengths.survival(2000.0), rel=0.02)
    assert np.quantile(drawn, 0.9) == pytest.approx(lengths.quantile(0.9), rel=0.01)
    longest = np.median(drawn.reshape(-1, 100).max(axis=1))
    assert lengths.expected_longest(100) == pytest.approx(float(longest), rel=0.1)


def test_one_length_for_all_has_no_spread() -> None:
    lengths = CutLognormal.of(256.0, 256.0)
    assert (lengths.s, lengths.moment(2), lengths.expected_longest(1000)) == (0.0, 256.0**2, 256.0)
    assert lengths.survival(255.0) == 1.0
    assert lengths.quantile(0.1) == 256.0


def test_tokens_of_prompt_and_response() -> None:
    tokens = Tokens.of(100.0, 100.0, 900.0, 3900.0, True)
    spread = CutLognormal.of(900.0, 3900.0).moment(2) - 900.0**2
    assert (tokens.mean, tokens.longest) == (1000.0, 4000.0)
    assert tokens.squared == pytest.approx(1000.0**2 + spread)
    assert tokens.counted == 1000.0
    assert tokens.attended == pytest.approx(tokens.squared / 1000.0)
    padded = Tokens.of(100.0, 100.0, 900.0, 3900.0, False, longest=3000.0)
    assert padded.counted == padded.attended == 3000.0
    assert tokens.mean <= tokens.expected_longest(8) <= tokens.expected_longest(1e6) == 4000.0


@given(mean=st.floats(50.0, 2000.0), room=st.floats(3.0, 40.0), place=st.floats(0.35, 0.8))
def test_a_known_percentile_is_met_beside_mean_and_maximum(mean: float, room: float, place: float) -> None:
    longest = mean * room
    p99 = mean + place * (longest - mean)
    lengths = CutLognormal.of(mean, longest, p99=p99)
    assert lengths.moment(1) == pytest.approx(mean, rel=1e-4)
    reached = CutLognormal.of(mean, longest, MOST_CV).quantile(0.99)
    assert lengths.quantile(0.99) == pytest.approx(min(p99, max(reached, lengths.quantile(0.99))), rel=1e-3)


def test_a_percentile_at_the_mean_or_the_cut_says_nothing() -> None:
    assert CutLognormal.of(900.0, 3584.0, p99=3584.0) == CutLognormal.of(900.0, 3584.0)
    assert CutLognormal.of(900.0, 3584.0, p99=900.0) == CutLognormal.of(900.0, 3584.0)
