"""The one base of every record that comes from or goes to a file: frozen, and nothing unknown gets in."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A frozen record; an unknown field is an error, and the field docstrings are the published schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
