"""Bytes of a price file as numbered rows: CSV, a JSON list of records, or a zip that holds one CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rlopt.errors import InputError
from rlopt.facts.files.text import decode

LARGEST_BYTES: Final = 64 << 20
"""The largest public price file of one provider has a few MB."""
MOST_ROWS: Final = 200_000
MOST_COLUMNS: Final = 200


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Rows by column name with their lines; ``torn`` lines have too few or too many cells."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    torn: tuple[tuple[int, int], ...]
    """(line, cells) of rows that do not fit the header."""
    ends: bool
    """Whether the last line ends as a line does; a file cut short mostly does not."""

    def refuse(
        self, column: str, message: str, allowed: str = "", fix: str = "", line: int | None = None
    ) -> InputError:
        """Build the error that the file as a whole deserves."""
        return InputError.of(column, message, file=self.file, line=line, allowed=allowed, fix=fix)


def read_bytes(path: Path) -> bytes:
    """Read a price file.

    Raises
    ------
    InputError
        When it is missing, no regular file or too large.
    """
    name = str(path)
    try:
        if not path.is_file():
            raise InputError.of("", "there is no such file", file=name, allowed="a price list", fix="check the path")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError.of("", message, file=name, allowed="a readable file", fix="check the path") from None
    if len(data) > LARGEST_BYTES:
        raise too_large(name)
    return data


def too_large(name: str) -> InputError:
    """Build the error for more bytes than a price file has."""
    message = f"is larger than {LARGEST_BYTES >> 20} MiB"
    return InputError.of("", message, file=name, allowed="a price list", fix="split it by provider")


def parse(data: bytes, name: str) -> PriceTable:
    """Turn bytes into a table.

    Raises
    ------
    InputError
        When they are no text, no table, or larger than a price list is.
    """
    if data.startswith(b"PK\x03\x04"):
        data = _unzipped(data, name)
    text = decode(data, name)
    start = text.lstrip()[:1]
    if not start:
        raise InputError.of("", "is empty", file=name, allowed="a header and rows", fix="check the file")
    if start == "<":
        message = "is a web page, not a price list"
        raise InputError.of(
            "", message, file=name, line=1, allowed="CSV or JSON", fix="name the file itself, not its page"
        )
    return _of_json(text, name) if start in "[{" else _of_csv(text, name)


def _unzipped(data: bytes, name: str) -> bytes:
    """The one CSV of a zip, never more than a price file has."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            inside = [one for one in packed.infolist() if one.filename.lower().endswith(".csv")]
            if len(inside) != 1:
                message = f"holds {len(inside)} CSV files"
                raise InputError.of(
                    "", message, file=name, allowed="one CSV file", fix="unpack it and name one of them"
                )
            with packed.open(inside[0]) as stream:
                content = stream.read(LARGEST_BYTES + 1)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        message = f"is a zip that cannot be unpacked: {error}"
        raise InputError.of("", message, file=name, allowed="a whole zip file", fix="fetch it again") from None
    if len(content) > LARGEST_BYTES:
        raise too_large(name)
    return content


def _of_csv(text: str, name: str) -> PriceTable:
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[tuple[int, dict[str, str]]] = []
    torn: list[tuple[int, int]] = []
    try:
        columns = tuple(cell.strip() for cell in next(reader))
        _check_columns(columns, name)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(rows) >= MOST_ROWS:
                message = f"has more than {MOST_ROWS:,} rows"
                raise InputError.of("", message, file=name, allowed="a price list", fix="split it by provider")
            if len(cells) != len(columns):
                torn.append((reader.line_num, len(cells)))
            else:
                rows.append((reader.line_num, {key: cell.strip() for key, cell in zip(columns, cells, strict=True)}))
    except csv.Error as error:
        message = f"is no CSV: {error}"
        raise InputError.of(
            "", message, file=name, line=reader.line_num, allowed="CSV", fix="check the quotes"
        ) from None
    return PriceTable(name, columns, tuple(rows), tuple(torn), text.endswith("\n"))


def _check_columns(columns: tuple[str, ...], name: str) -> None:
    again = sorted({one for one in columns if columns.count(one) > 1}) if len(columns) <= MOST_COLUMNS else []
    if len(columns) > MOST_COLUMNS:
        message = f"has {len(columns)} columns"
        raise InputError.of("", message, file=name, line=1, allowed=f"up to {MOST_COLUMNS}", fix="name a price list")
    if again:
        message = f"the column {again[0]!r} stands there twice"
        raise InputError.of(again[0], message, file=name, line=1, allowed="each column once", fix="delete one")


def _of_json(text: str, name: str) -> PriceTable:
    """Records of a JSON list, also below the key ``items`` or ``offers``; a record counts as a line."""
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is no JSON: {error.msg}"
        raise InputError.of("", message, file=name, line=error.lineno, allowed="JSON", fix="fetch it again") from None
    except (RecursionError, ValueError):
        message = "is JSON that cannot be read: too deep or with too long a number"
        raise InputError.of("", message, file=name, allowed="a list of records", fix="name a price list") from None
    if isinstance(found, dict):
        found = next((found[key] for key in ("items", "offers") if isinstance(found.get(key), list)), found)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found) or not found:
        message = "holds no list of records"
        raise InputError.of("", message, file=name, allowed="[{...}, ...]", fix="name a price list")
    if len(found) > MOST_ROWS:
        message = f"has more than {MOST_ROWS:,} records"
        raise InputError.of("", message, file=name, allowed="a price list", fix="split it by provider")
    columns = tuple(dict.fromkeys(str(key) for record in found for key in record))
    _check_columns(columns, name)
    rows = [(number, {key: _cell(record.get(key)) for key in columns}) for number, record in enumerate(found, 1)]
    return PriceTable(name, columns, tuple(rows), (), True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    try:
        return str(value).strip()
    except ValueError:  # an integer of more digits than Python writes out
        return "a number of thousands of digits"
