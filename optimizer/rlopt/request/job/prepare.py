"""How samples of a data set become ready for a step: decoding and shuffling, and from what kind of store."""

from __future__ import annotations

from typing import Annotated, Literal

from rlopt.request.values.kinds import NotNegative, Number
from rlopt.request.values.quantities import Size
from rlopt.strict import Strict

DataStore = Literal["object", "filesystem", "block"]


class Prepare(Strict):
    """Work on the processors before a sample can be trained on."""

    vcpu_seconds_per_sample: NotNegative = 0.0
    """Seconds of one virtual CPU to decode, augment and shuffle one sample: a sequence (sft), a pair (dpo, rm), a
    trajectory that is used again (vla)."""
    memory_per_vcpu: Size | None = None
    """Memory that each virtual CPU of a preparation machine needs, in bytes; none beyond the machine's own when left
    out."""
    host_share: Annotated[float, Number(0.0, 1.0, example="0.5")] | None = None
    """Share of the training machines' own virtual CPUs that prepares samples; the catalog's assumption when left
    out."""
