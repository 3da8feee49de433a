"""Files that are no requests at all, or that were made to hurt."""

from __future__ import annotations

import os
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import LARGEST_BYTES
from rlopt.reading.files.tree import DEEPEST, MOST_NODES
from rlopt.reading.request_file import load_request

Complain = Callable[..., tuple[Complaint, ...]]

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

BYTES = {
    "UTF-16 with a mark": ("job: {}\n".encode("utf-16"), 1, "UTF-16"),
    "UTF-32 with a mark": ("job: {}\n".encode("utf-32"), 1, "UTF-32"),
    "UTF-16 without a mark": ("job: {}\n".encode("utf-16-le"), 1, "U+0000"),
    "latin-1": ("version: 1\n# Größe\n".encode("latin-1"), 2, "0xf6"),
    "a NUL": (b"version: 1\njob:\n  name: a\x00b\n", 3, "U+0000"),
    "an escape character": (b"version: 1\njob:\n  name: \x1b[31mred\n", 3, "U+001B"),
    "binary": (bytes(range(256)), 2, "0x80"),
    "gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 1, "0x8b"),
    "a lone surrogate": (b"name: \xed\xa0\x80\n", 1, "0xed"),
    "deep brackets": (b"job: " + b"[" * 5000, 1, f"more than {DEEPEST} deep"),
    "deep closed brackets": (b"job: " + b"[" * 5000 + b"]" * 5000, 1, f"more than {DEEPEST} deep"),
    "deep indentation": (
        "".join(f"{' ' * n}k:\n" for n in range(200)).encode(),
        DEEPEST + 2,
        f"more than {DEEPEST} deep",
    ),
    "a bomb of aliases": (BOMB.encode(), 5, f"more than {MOST_NODES} values"),
    "more values than a request has": (
        b"job: [" + b"1, " * 30_000 + b"1]\n",
        1,
        f"more than {MOST_NODES} values",
    ),
    "a directive of another version": (b"%YAML 3.0\n---\njob: {}\n", None, "not YAML"),
    "a directive that is none": (b"%YAML x\n---\njob: {}\n", 1, "not YAML"),
    "a lonely surrogate escape": (b'job: "\\ud800"\n', None, ""),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_no_request(name: str, complain: Complain) -> None:
    content, line, message = BYTES[name]
    found = complain(content)
    assert found[0].fix
    assert message in found[0].message
    if line is not None:
        assert found[0].line == line


def test_a_file_of_a_mebibyte_and_a_byte_is_refused(complain: Complain) -> None:
    found = complain(b"#" * (LARGEST_BYTES + 1))
    assert "larger than 1024 KiB" in found[0].message


def test_a_byte_order_mark_is_dropped(bases: dict[str, str], load: Callable[..., Any]) -> None:
    assert load("\ufeff" + bases["grpo"]).job.name == "small"


def test_windows_line_ends_count_like_others(bases: dict[str, str], complain: Complain) -> None:
    text = bases["grpo"].replace("deadline: 24h", "deadline: 24").replace("\n", "\r\n")
    assert complain(text)[0].line == 13


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder, "is a folder"),
        (lambda folder: folder / "nowhere.yaml", "there is no such file"),
        (lambda folder: folder / "nul\x00l.yaml", "there is no such file|cannot be read"),
        (lambda folder: folder / ("x" * 5000), "cannot be read"),
    ],
)
def test_paths_that_are_no_file(make: Callable[[Path], Path], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load_request(make(tmp_path))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(InputError, match="not a regular file"):
        load_request(tmp_path / "pipe.yaml")


def test_a_circle_of_files_is_named(write: Callable[..., Path]) -> None:
    write("extends: [b.yaml]\n", "a.yaml")
    write("extends: [c.yaml]\n", "b.yaml")
    path = write("extends: [a.yaml]\n", "c.yaml")
    with pytest.raises(InputError) as caught:
        load_request(path)
    found = caught.value.complaints[0]
    assert "c.yaml -> a.yaml -> b.yaml -> c.yaml" in found.message
    assert (Path(found.file or "").name, found.line, found.key) == ("b.yaml", 1, "extends[0]")


def test_a_link_that_leads_out_of_the_folder_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    write("floors: {group_size: 2}\n", "outside.yaml")
    path = write("extends: [inside.yaml]\n", "folder/constraints.yaml")
    (tmp_path / "folder" / "inside.yaml").symlink_to(tmp_path / "outside.yaml")
    with pytest.raises(InputError, match="leads out of the file's folder"):
        load_request(path)


def test_a_tree_of_extends_cannot_explode(write: Callable[..., Path]) -> None:
    for level in range(30):
        write(f"extends: [l{level + 1}.yaml, l{level + 1}.yaml]\n", f"l{level}.yaml")
    write("floors: {group_size: 2}\n", "l30.yaml")
    with pytest.raises(InputError, match="one file too many"):
        load_request(write("extends: [l0.yaml]\n"))


WORDS = """
null -1 0 true [] {} 1e400 .nan .inf 'x' 1_000 3h &a *b @ ` 1:2 0x1F % | > --- "\\q" {a:1} [*a] !!int
"""
PHRASES = (
    "5 USD",
    "&a [*a]",
    "!!int 3",
    "? [a]",
    "- x",
    "<<: {a: 1}",
    "{because: 3}",
    "{value: 1, because: x}",
)
NASTY = st.sampled_from([*WORDS.split(), *PHRASES, "9" * 50, "\t", "\u2028", "\r", "\n", ""])


@given(data=st.data())
def test_no_change_of_a_request_brings_another_exception(data: st.DataObject, tmp_path_factory: Any) -> None:
    folder = Path(__file__).parents[1] / "data" / "requests"
    names = sorted(path.name for path in folder.glob("*.yaml"))
    text = (folder / data.draw(st.sampled_from(names))).read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(NASTY) + text[start + length :]
    _only_input_errors(text, tmp_path_factory)


@given(text=st.text(alphabet=string.printable + "é\u0085\u2028", max_size=60))
def test_no_text_brings_another_exception(text: str, tmp_path_factory: Any) -> None:
    _only_input_errors(text, tmp_path_factory)


def _only_input_errors(text: str, factory: Any) -> None:
    path = factory.getbasetemp() / "fuzz.yaml"
    path.write_bytes(text.encode())
    complaints: tuple[Complaint, ...] = ()
    try:
        load_request(path)
    except InputError as error:
        complaints = error.complaints
    assert all(complaint.message and complaint.fix and complaint.file for complaint in complaints)
