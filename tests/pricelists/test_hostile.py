"""Files that were damaged on the way or on purpose: an error that names the file, or prices that a market can have."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.errors import Complaint, InputError
from rlopt.pricelists.cells import DEAREST_PER_HOUR
from tests.pricelists.lists import FIGURES, GPUHUNT, HALL, RENTED, SKYPILOT, own, read

FILES = (SKYPILOT.encode(), GPUHUNT.encode(), own(RENTED, HALL | FIGURES).encode())
PIECES = st.sampled_from(
    [
        b"1e999",
        b"-",
        b'"',
        b"\r\n",
        b"9" * 50,
        "１".encode(),
        b"nan",
        b",,",
        b"../",
        b"\x1b[31m",
        b"\x00",
        b"\xff",
        b"[",
    ]
)


@settings(max_examples=200)
@given(
    file=st.sampled_from(FILES),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), PIECES), min_size=1, max_size=6),
)
def test_nothing_but_prices_comes_in(file: bytes, cuts: list[tuple[float, int, bytes]]) -> None:
    data = file
    for share, length, piece in cuts:
        at = int(share * len(data))
        data = data[:at] + piece + data[at + length :]
    refused: tuple[Complaint, ...] = ()
    try:
        found = read(data, "nebius")
    except InputError as error:
        refused = error.complaints
    assert {one.file for one in refused} <= {"prices.csv"}
    if refused:
        return
    offers = (*found.offers, *found.zone_offers)
    assert len({one.id for one in offers}) == len(offers)
    assert all(0.0 < one.price_per_hour <= DEAREST_PER_HOUR for one in offers)
    assert all(len(one.currency) == 3 and one.as_of and one.source for one in offers)
    assert found.rows >= len(found.offers) / 2  # a row gives at most an on-demand and a spot price
    assert all(row.reason and row.file == "prices.csv" for row in found.left_out)
