"""User catalogs: price lists kept in the platform's data folder, each in one file that is whole or not there."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, Final

from rlopt.data_dir import user_catalogs_dir
from rlopt.errors import InputError
from rlopt.facts import Catalog, Offer, Shape
from rlopt.pricelists.contract import LeftOut, PriceList

SCHEMA: Final = "rlopt.prices/1"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
MOST_NAMED: Final = 200
"""Rows left out that a file keeps by name; all are counted."""


def path_of(name: str) -> Path:
    """File of a user catalog. Raises InputError for a name that could lead elsewhere."""
    if not NAME.match(name):
        message = f"{name[:80]!r} is no name of a user catalog"
        raise InputError.of(
            "--name", message, allowed="small letters, digits, . _ -", fix="write for example --name team"
        )
    return user_catalogs_dir() / f"{name}.json"


def names() -> tuple[str, ...]:
    """Names of the user catalogs, in order; one look at a folder where there are none."""
    try:
        found = [entry.name for entry in os.scandir(user_catalogs_dir()) if entry.name.endswith(".json")]
    except FileNotFoundError:
        return ()
    except OSError as error:
        message = f"the folder of the user catalogs cannot be read: {error.strerror}"
        fix = "set RLOPT_CATALOGS to a folder that can be read"
        raise InputError.of("", message, file=str(user_catalogs_dir()), fix=fix) from None
    return tuple(sorted(name.removesuffix(".json") for name in found if NAME.match(name.removesuffix(".json"))))


def load_all(catalog: Catalog) -> tuple[PriceList, ...]:
    """Read every user catalog. Raises InputError where one is damaged."""
    return tuple(load(name, catalog) for name in names())


def load(name: str, catalog: Catalog) -> PriceList:
    """Read one user catalog; offers of machines that no catalog knows any more are left out and named.

    Raises
    ------
    InputError
        When it is not there or damaged.
    """
    path = path_of(name)
    try:
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
        if record["schema"] != SCHEMA:
            raise ValueError(record["schema"])
        return _read(record, catalog, path)
    except FileNotFoundError:
        raise _unknown(name) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"the user catalog is damaged: {type(error).__name__} {error}"
        fix = f"rlopt catalog forget {name}, and bring it in again"
        raise InputError.of("", message, file=str(path), allowed="a file that rlopt wrote", fix=fix) from None


def _read(record: dict[str, Any], catalog: Catalog, path: Path) -> PriceList:
    own = {key: Shape(**{**fields, "aliases": tuple(fields["aliases"])}) for key, fields in record["shapes"].items()}
    left_out = [LeftOut(**one) for one in record["left_out"]]

    def offers(rows: list[dict[str, Any]]) -> Iterator[Offer]:
        for row in rows:
            shape = own.get(row["shape"]) or catalog.shapes.get(row["shape"])
            if shape is None:
                reason = "a machine that the catalogs do not know any more"
                left_out.append(LeftOut(path.name, 0, "", row["shape"], reason))
            else:
                yield _sound(Offer(**{**row, "shape": shape}))

    found, zoned = tuple(offers(record["offers"])), tuple(offers(record["zone_offers"]))
    return PriceList(
        name=str(record["name"]),
        format=str(record["format"]),
        source=str(record["source"]),
        as_of=str(record["as_of"]),
        own=bool(record["own"]),
        rows=int(record["rows"]),
        offers=found,
        zone_offers=zoned,
        left_out=tuple(left_out),
        read_on=str(record["read_on"]),
    )


def _no_number(text: str) -> float:
    """Refuse NaN and Infinity, which JSON has no word for."""
    raise ValueError(text)


def _sound(offer: Offer) -> Offer:
    """Refuse a price that was changed to none. Raises ValueError."""
    if not 0.0 < offer.price_per_hour < float("inf"):
        raise ValueError(offer.id)
    return offer


def to_bytes(one: PriceList, catalog: Catalog) -> bytes:
    """Write a price list; machines that the catalogs know stand by name, others in full."""
    made = (*one.offers, *one.zone_offers)
    shapes = {offer.shape.key: offer.shape for offer in made if catalog.shapes.get(offer.shape.key) != offer.shape}
    record = {
        "schema": SCHEMA,
        **{key: getattr(one, key) for key in ("name", "format", "source", "as_of", "own", "rows", "read_on")},
        "left_out_count": dict(Counter(row.reason for row in one.left_out)),
        "left_out": [dataclasses.asdict(row) for row in one.left_out[:MOST_NAMED]],
        "shapes": {key: dataclasses.asdict(shape) for key, shape in shapes.items()},
        "offers": [_row(offer) for offer in one.offers],
        "zone_offers": [_row(offer) for offer in one.zone_offers],
    }
    return (json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def _row(offer: Offer) -> dict[str, Any]:
    fields = {field.name: getattr(offer, field.name) for field in dataclasses.fields(offer)}
    return {**fields, "shape": offer.shape.key}


def save(one: PriceList, catalog: Catalog, today: date) -> Path:
    """Keep a price list under its name: the old file stays whole until the new one takes its place.

    The caller holds the lock.
    """
    path = path_of(one.name)
    write_whole(path, to_bytes(dataclasses.replace(one, read_on=today.isoformat()), catalog))
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside the old one, make it last, and give it the old one's name in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _last(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _last(folder: Path) -> None:
    """Make the names in a folder last; Windows opens no folder, and its file system keeps their order itself."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def forget(name: str) -> Path:
    """Delete a user catalog. Raises InputError where there is none."""
    path = path_of(name)
    if not path.is_file():
        raise _unknown(name)
    path.unlink()
    return path


def _unknown(name: str) -> InputError:
    known = ", ".join(names()) or "there is none"
    return InputError.of("", f"there is no user catalog {name}", allowed=known, fix="see rlopt catalog list")


@contextmanager
def locked() -> Iterator[None]:
    """Hold the folder of the user catalogs alone; a process that dies lets go of it.

    Raises
    ------
    InputError
        When another process holds it, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout  # reading prices takes no lock

    folder = user_catalogs_dir()
    lock = FileLock(folder / ".lock", blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        message = "another rlopt is changing the user catalogs"
        raise InputError.of("", message, file=str(folder), fix="wait until it is done") from None
    except OSError as error:
        message = f"the folder of the user catalogs cannot be written: {error.strerror}"
        fix = "set RLOPT_CATALOGS to a folder that can be written"
        raise InputError.of("", message, file=str(folder), fix=fix) from None
    try:
        for left in folder.glob(".*.part"):  # of a process that was killed while it wrote
            with suppress(OSError):
                left.unlink()
        yield
    finally:
        lock.release()


def with_user_catalogs(shipped: Catalog) -> Catalog:
    """The shipped catalog with the user catalogs over it, each read once until it changes.

    Raises
    ------
    InputError
        When one is damaged.
    """
    from rlopt.pricelists.merge import laid_over

    stats = [(path, path.stat()) for path in map(path_of, names())]
    state = tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)
    if not state:
        return shipped
    if _LAST.get(state, (None, None))[0] is not shipped:
        _LAST.clear()
        _LAST[state] = shipped, laid_over(shipped, load_all(shipped))
    return _LAST[state][1]


_LAST: dict[tuple[tuple[Path, int, int], ...], tuple[Catalog, Catalog]] = {}
"""The state of the user catalogs to the shipped catalog and what they made of it."""
