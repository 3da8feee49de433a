"""What happens to stored data beside the runs: how often they are read, how they are backed up and compressed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rlopt.request.values.kinds import NotNegative, Number, Share, Whole
from rlopt.request.values.quantities import Moment
from rlopt.strict import Strict


class Accesses(Strict):
    """Reads of the stored data a month beside those of the runs: one number for all, or by age."""

    hot: NotNegative = 0.0
    """Reads a month of the version in use."""
    warm: NotNegative = 0.0
    """Reads a month of each of the three versions before it."""
    cold: NotNegative = 0.0
    """Reads a month of older versions and of the raw data."""


class Backup(Strict):
    """Backups of the version of the data set in use, made while runs last and kept as long as the data set."""

    mode: Literal["none", "full", "incremental", "versioning"] = "none"
    """full: whole copies | incremental: one whole copy and what changed | versioning: the store keeps what changed."""
    every: Moment | None = None
    """Time from one backup to the next; required unless the mode is none."""
    copies: Whole = 1
    """Points in time to go back to."""
    changed_share: Share = 0.0
    """Share of the bytes that changes from one backup to the next; required for incremental and versioning."""


class _OneOrByAge:
    """Reads a number as that of all three ages."""

    def read(self, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Accesses:
        """Return the reads by age."""
        if not isinstance(value, (Accesses, dict)):
            each = Number(0.0, example="0.5").read(value, info)
            value = dict.fromkeys(Accesses.model_fields, each)
        read: Accesses = handler(value)
        return read

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(self.read, handler.generate_schema(Accesses))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "number", "minimum": 0}, handler(schema)]}


AccessesByAge = Annotated[Accesses, _OneOrByAge()]
"""Reads a month: 0.5, or {hot: 2, warm: 0.5, cold: 0}."""


class Squeeze(Strict):
    """What compressing one kind of bytes brings and takes."""

    ratio: Annotated[float, Number(0.0, 1.0, low_open=True, example="0.3")]
    """Compressed size / size."""
    vcpu_seconds_per_gib: NotNegative
    """vCPU seconds to compress one GiB, and again to read it back."""


class Compression(Strict):
    """Kinds of bytes that may be compressed: each is where that is cheaper."""

    trajectories: Squeeze | None = None
    """Stored trajectories (vla)."""
    intermediates: Squeeze | None = None
    """Stored log-probabilities."""
    logs: Squeeze | None = None
    """Texts that are files in a store (``text_log.kept_in: store``): a logging service bills them as they are."""
    checkpoints: Squeeze | None = None
    """Every copy of weights and optimizer state, by the training machines: counted in saves and recovery."""
