"""Which model a training row ran: by name, by the shape it states, or by what follows from its width and size."""

from __future__ import annotations

from dataclasses import replace

from rlopt.facts import Calibration, Catalog, Model
from rlopt.measured.names import find_model
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.megatron_args import arguments, model_of

CONTRADICTS = 0.12
"""Stated parameters this far from the stated shape's own count belong to another shape."""


def training_model(row: MeasuredRow, catalog: Catalog, calibration: Calibration, assumed: list[str]) -> Model | str:
    """The model, or why it is unknown; what had to be assumed goes to ``assumed``.

    Layers that are not stated are (parameters - vocabulary · hidden) / 12 hidden² (Narayanan et al., 2021, section
    5.1, without the small terms).
    """
    found, args = find_model(row, catalog), arguments(row)
    if args and isinstance(found, Model) and found.params_basis == "inline":
        if any("layer-pattern" in name or "override-pattern" in name for name in args):
            return "a hybrid whose layers no name tells"
        found = model_of(row, args)
    hidden, size = row.number("hidden"), row.number("params_b")
    if isinstance(found, str) and hidden and size and not row.has("layers"):
        vocabulary = row.number("vocab") or float(calibration.stacks.defaults["vocabulary"])
        layers = round((size * 1e9 - vocabulary * hidden) / (12.0 * hidden**2))
        if layers > 0:
            assumed.append(f"{layers} layers")
            found = find_model(replace(row, cells={**row.cells, "layers": str(layers)}), catalog)
    return found if isinstance(found, str) else _of_stated_size(found, row, assumed)


def _of_stated_size(model: Model, row: MeasuredRow, assumed: list[str]) -> Model:
    """The model with the parameters that the row states, where they contradict the shape it states as well.

    Tables print sizes that were computed by the run; their layers are more often copied wrongly.
    """
    stated = (row.number("params_b") or 0.0) * 1e9
    if model.params_basis != "inline" or not stated or abs(stated / model.params - 1.0) < CONTRADICTS:
        return model
    assumed.append(f"{stated / 1e9:.0f}B parameters as stated")
    return replace(model, params=stated, active_params=stated)


__all__ = ["training_model"]
