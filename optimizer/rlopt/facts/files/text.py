"""From a path to text, for files that people write: small, UTF-8, and really a file."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Final

from rlopt.errors import InputError

LARGEST_BYTES: Final = 1 << 20
"""A request is a page or two; more is not a request."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_FOREIGN_MARKS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read_text(path: Path, name: str) -> str:
    """Read a small UTF-8 text file; a byte order mark is dropped.

    Parameters
    ----------
    path
        The file.
    name
        How complaints call it.

    Raises
    ------
    InputError
        When it is missing, no regular file, unreadable, too large, binary or in another encoding.
    """
    return decode(_read_bytes(path, name), name)


def _read_bytes(path: Path, name: str) -> bytes:
    fix = "check the path"
    try:
        if path.is_dir():
            raise InputError.of("", "is a folder", file=name, allowed="a YAML file", fix="name a file in it")
        if not path.exists():
            raise InputError.of("", "there is no such file", file=name, allowed="a YAML file", fix=fix)
        if not path.is_file():  # a pipe or a device may never end
            raise InputError.of("", "is not a regular file", file=name, allowed="a YAML file", fix=fix)
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read: {reason}"
        raise InputError.of("", message, file=name, allowed="a readable file", fix=fix) from None
    if len(data) > LARGEST_BYTES:
        message = f"is larger than {LARGEST_BYTES >> 10} KiB"
        fix = "name the request, not a data file"
        raise InputError.of("", message, file=name, allowed="a request of a few pages", fix=fix)
    return data


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 and refuse what is no text, with the line.

    Raises
    ------
    InputError
        With the line of the first byte that is wrong.
    """
    for mark, encoding in _FOREIGN_MARKS.items():
        if data.startswith(mark):
            message = f"is encoded as {encoding}"
            raise InputError.of("", message, file=name, line=1, allowed="UTF-8", fix="save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        fix = "save the file as UTF-8"
        raise InputError.of("", message, file=name, line=line, allowed="UTF-8", fix=fix) from None
    control = _CONTROL.search(text)
    if control is not None:
        line = text.count("\n", 0, control.start()) + 1
        message = f"contains the control character U+{ord(control[0]):04X}"
        fix = "remove it, or name a text file" if control[0] != "\x00" else "name a text file saved as UTF-8"
        raise InputError.of("", message, file=name, line=line, allowed="plain text", fix=fix)
    return text
