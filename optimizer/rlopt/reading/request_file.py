"""The door for requests: a file (or a map) in, a `Request` or every complaint out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from rlopt.errors import Complaint, InputError
from rlopt.reading.agreement import check, with_defaults
from rlopt.reading.files.complaints import complaints_of, ordered, unknown_key
from rlopt.reading.files.keys import known_keys
from rlopt.reading.files.layers import layer_of, load_layers
from rlopt.reading.files.merge import Layer, without_nulls
from rlopt.request import FILLED_IN, KeyPlaces, Request
from rlopt.request.values.kinds import show

PYTHON: Final = "<python>"
_VERSION: Final = 1


def load_request(path: str | Path, overrides: Sequence[str] = ()) -> Request:
    """Read a constraints.yaml with all that it extends.

    Parameters
    ----------
    path
        The file.
    overrides
        ``key=value`` texts that change the file for this run; the value is YAML, null removes the key.

    Returns
    -------
    Request
        Validated, in canonical units.

    Raises
    ------
    InputError
        With every complaint that could be found in one reading.
    """
    return finish(load_layers(Path(path), overrides), str(path))


def read_request(value: Mapping[str, Any], overrides: Sequence[str] = ()) -> Request:
    """Read a request from a map of the same keys and texts as a file holds.

    Raises
    ------
    InputError
        With every complaint that could be found.
    """
    return finish(layer_of(dict(value), PYTHON, overrides), PYTHON)


def finish(layer: Layer, file: str) -> Request:
    """Check a merged layer and make it a request.

    Raises
    ------
    InputError
        With every complaint that could be found, those of the layer included.
    """
    tree = without_nulls(layer.value)
    complaints = [*layer.complaints]
    source = KeyPlaces(layer.places, file)
    for name in [key for key in tree if key in FILLED_IN]:
        complaints.append(Complaint(*source.locate(str(name)), str(name), *unknown_key(str(name), known_keys(""))))
        del tree[name]
    version = tree.pop("version", _VERSION)
    if version != _VERSION or isinstance(version, bool):
        complaints.append(
            Complaint(
                *source.locate("version"),
                "version",
                f"{show(version)} is no version of this format",
                f"{_VERSION}",
                f"write version: {_VERSION}",
            )
        )
    complaints += [Complaint(*source.locate(finding.key), *finding) for finding in check(tree)]
    request = None
    try:
        request = _build(with_defaults(tree), layer, source)
    except ValidationError as error:
        complaints += _fresh(complaints_of(error, tree, layer.places, file), complaints)
    if complaints or request is None:
        raise InputError(ordered(complaints, file))
    return request


def _build(tree: Mapping[str | int, Any], layer: Layer, source: KeyPlaces) -> Request:
    origins = {
        floor: origin
        for floor, origin in layer.origins.items()
        if origin.startswith("preset ") or origin not in ("", source.file)
    }
    written = Request.model_validate(tree, context={"written": True})
    return written.model_copy(
        update={
            "presets": layer.names,
            "reasons": tuple(layer.reasons.values()),
            "floor_origins": origins,
            "source": source,
        }
    )


def _fresh(found: Sequence[Complaint], known: Sequence[Complaint]) -> list[Complaint]:
    """Leave out what a check already says about the same key."""
    keys = {complaint.key for complaint in known}
    return [complaint for complaint in found if complaint.key not in keys]
