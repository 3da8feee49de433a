"""Measurement files: read as written, or refused with every line that is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.errors import InputError
from rlopt.measured import rows
from rlopt.measured.rows import MeasuredRow, parse_table, read_table


def faults(text: str) -> list[tuple[int | None, str]]:
    """Lines and messages of a text that is refused."""
    with pytest.raises(InputError) as caught:
        parse_table(text, "m.csv")
    return [(complaint.line, complaint.message) for complaint in caught.value.complaints]


def test_cells_are_read_as_they_stand() -> None:
    table = parse_table('id,GPU, tp ,note\na, H100 ,2,"x, y"\n\nb,,eight,\n', "m.csv")
    assert table.columns == ("id", "GPU", "tp", "note")
    first, second = table.rows
    assert (first.id, first.line, second.line) == ("a", 2, 4)
    assert (first.text("gpu"), first.text("note"), first.text("absent")) == ("H100", "x, y", "")
    assert (first.number("tp"), second.number("tp"), second.number("gpu")) == (2.0, None, None)
    assert first.has("gpu")
    assert not second.has("gpu")
    assert table.has("gpu")
    assert not table.has("pp")


@pytest.mark.parametrize("cell", ["inf", "-inf", "nan", "1e999", "", "  ", "2x", "0x10"])
def test_no_number(cell: str) -> None:
    assert MeasuredRow(2, {"tp": cell}).number("tp") is None


@pytest.mark.parametrize("cell", ["", "-", "N/A", "nan", "None", "unknown", " ? "])
def test_what_says_nothing(cell: str) -> None:
    assert not MeasuredRow(2, {"step_time_s": cell}).has("step_time_s")


def test_a_row_without_an_id_is_called_by_its_line() -> None:
    assert parse_table("gpu\nH100\n", "m.csv").rows[0].id == "line 2"


def test_asking_keeps_the_row() -> None:
    row = MeasuredRow(7, {"id": "a"})
    assert row.asking("fits") == MeasuredRow(7, {"id": "a"}, "fits")


def test_a_cell_over_several_lines_does_not_shift_the_count() -> None:
    table = parse_table('id,note\n"a","one\ntwo"\nb,x\n', "m.csv")
    assert [(row.id, row.line) for row in table.rows] == [("a", 2), ("b", 4)]


def test_ragged_rows_are_all_named() -> None:
    assert faults("a,b\n1\n1,2\n1,2,3\n") == [
        (2, "has 1 cells, the header has 2 columns"),
        (4, "has 3 cells, the header has 2 columns"),
    ]


def test_complaints_end_somewhere() -> None:
    found = faults("a,b\n" + "1\n" * 1000)
    assert len(found) == rows.MOST_COMPLAINTS + 1
    assert found[-1] == (None, f"and {1000 - rows.MOST_COMPLAINTS} more faults")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "is empty"),
        ("\n\n  \n", 1, "is empty"),
        ("id,,gpu\n", 1, "column 2 has no name"),
        ("id,gpu,GPU\n", 1, "'GPU' stands there twice"),
        ("id;gpu;tp\na;b;c\n", 1, "looks like several"),
        ('id,gpu\na,"H100\n', 2, "is no CSV"),
        ('id,gpu\na,"H"100\n', 2, "is no CSV"),
        ("id,gpu\n" + "x" * 200_000 + ",b\n", 2, "is no CSV"),
    ],
)
def test_what_is_no_table(text: str, line: int, words: str) -> None:
    (found,) = faults(text)
    assert found[0] == line
    assert words in found[1]


def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "absent.csv")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="not a regular file"):
        read_table(pipe)
    large = tmp_path / "large.csv"
    large.write_text("id,tp\n" + "a,1\n" * 10, encoding="utf-8")
    monkeypatch.setattr(rows, "MOST_ROWS", 5)
    with pytest.raises(InputError, match="more than 5 rows"):
        read_table(large)
    monkeypatch.setattr(rows, "LARGEST_BYTES", 16)
    with pytest.raises(InputError, match="is larger than"):
        read_table(large)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("id,gpu\na,b\n".encode("utf-16"), "UTF-16"),
        (b"id,gpu\na,caf\xe9\n", "m.csv:2: byte 0xe9 is not UTF-8"),
        (b"id,gpu\na,\x1b[31m\n", "control character"),
        (b"PK\x03\x04\x00\x00", "control character"),
    ],
)
def test_what_is_no_utf8_text(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=words):
        read_table(path)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("id,tp\r\na,1\r\n", encoding="utf-8-sig")
    table = read_table(path)
    assert (table.columns, table.rows[0].number("tp")) == (("id", "tp"), 1.0)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters=',"\n\r\t;'), max_size=200))
def test_any_text_is_a_table_or_a_complaint(text: str) -> None:
    try:
        table = parse_table(text, "m.csv")
    except InputError:
        return
    assert table.columns
    for row in table.rows:
        assert len(row.cells) == len(table.columns)
