"""Bands hold the share of rows that they promise, and widen for what was never seen."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from lab.fitting.bands import FEWEST, INSIDE, Sample, band_table, band_tables, spread
from lab.fitting.published import measurements_dir
from rlopt.estimates.uncertainty import EIGHTY
from rlopt.measured.rows import read_table


def sample(errors: np.ndarray, engine: str = "one", device: str = "card", architecture: str = "dense") -> Sample:
    size = len(errors)
    return Sample(
        np.abs(errors), {"architecture": [architecture] * size, "engine": [engine] * size, "device": [device] * size}
    )


def joined(*parts: Sample) -> Sample:
    labels = {name: [x for part in parts for x in part.labels[name]] for name in ("architecture", "engine", "device")}
    return Sample(np.concatenate([part.errors for part in parts]), labels)


DRAW = np.random.default_rng(7)


def test_a_normal_spread_is_its_sigma() -> None:
    assert spread(np.abs(0.2 * DRAW.standard_normal(50_000))) == pytest.approx(0.2, rel=0.08)
    assert np.isnan(spread(np.zeros(0)))


def test_eight_in_ten_rows_lie_inside_whatever_the_tails() -> None:
    heavy = 0.1 * DRAW.standard_t(2, 4000)
    found = band_table({"fold": sample(heavy)})
    sigma = found["dense"]["known"] * found["engine"]["one"] * found["device"]["card"]
    assert (np.abs(heavy) <= EIGHTY * sigma).mean() == pytest.approx(INSIDE, abs=0.01)


def test_a_noisy_engine_has_a_wider_band_and_few_rows_hardly_move_it() -> None:
    calm, wild = 0.05 * DRAW.standard_normal(300), 0.3 * DRAW.standard_normal(300)
    found = band_table({"fold": joined(sample(calm, "calm"), sample(wild, "wild"))})
    assert found["engine"]["wild"] > 2.0 * found["engine"]["calm"]
    few = band_table({"fold": joined(sample(calm, "calm"), sample(wild[:FEWEST], "wild"))})
    assert few["engine"]["wild"] < found["engine"]["wild"] / found["engine"]["calm"] * few["engine"]["calm"]
    assert "wild" not in band_table({"fold": joined(sample(calm, "calm"), sample(wild[:3], "wild"))})["engine"]


def test_what_was_left_out_is_never_surer_than_what_was_seen() -> None:
    seen, unseen = sample(0.2 * DRAW.standard_normal(400)), sample(0.05 * DRAW.standard_normal(400))
    wide = sample(0.5 * DRAW.standard_normal(400))
    row = band_table({"fold": seen, "device": unseen, "source": wide})["dense"]
    assert row["new_device"] == row["known"]
    assert row["new_engine"] == pytest.approx(0.5, rel=0.15)
    assert row["new_model"] == row["known"]


def test_an_architecture_with_few_rows_takes_the_common_spread() -> None:
    found = band_table(
        {"fold": joined(sample(0.1 * DRAW.standard_normal(500)), sample(np.ones(3), architecture="moe"))}
    )
    assert found["moe"]["known"] < 0.5
    assert found["devices"] == ["card"]
    assert found["engines"] == ["one"]


@pytest.mark.parametrize("kind", ["training", "memory", "generation", "rl"])
def test_bands_of_one_half_hold_their_share_of_the_other(kind: str) -> None:
    """Honest bands: set on half of the models and GPUs predicted out of sample, held against the other half."""
    rows = [dict(r.cells) for r in read_table(measurements_dir() / "out_of_sample.csv").rows]
    rows = [r for r in rows if r["kind"] == kind and r["scheme"] == "fold" and r["predicted"]]
    shares = []
    for seed in range(6):
        half = [zlib.crc32(f"{seed}{r['model']}{r['device']}".encode()) % 2 == 0 for r in rows]
        known = [r for r, inside in zip(rows, half, strict=True) if inside]
        unseen = [r for r, inside in zip(rows, half, strict=True) if not inside]
        table = band_tables(known)[kind]
        for r in unseen:
            sigma = table[r["architecture"]]["known"]
            sigma *= table["engine"].get(r["engine"], 1.0) * table["device"].get(r["device"], 1.0)
            shares.append(abs(np.log(float(r["predicted"]) / float(r["measured"]))) <= EIGHTY * sigma)
    assert 0.75 <= np.mean(shares) <= 0.85
