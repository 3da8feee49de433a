"""Preference pairs that are made before the first step: sampled by one model and judged by another."""

from __future__ import annotations

from typing import Annotated

from rlopt.request.values.kinds import Count, Whole
from rlopt.request.values.quantities import Pause
from rlopt.request.values.refs import ModelRef
from rlopt.strict import Strict


class Pairs(Strict):
    """How the pairs of a dpo or rm job are made, once, on machines of their own: best against worst of each prompt."""

    candidates: Annotated[int, Count(2, example="4")] = 4
    """Responses sampled to each prompt."""
    generator: ModelRef = ModelRef(keyword="policy")
    """Model that samples: policy (as it is before training), or a model."""
    judge: ModelRef
    """Model that scores every response, or rule: a program does."""
    pairs_per_prompt: Whole = 1
    """Pairs kept of each prompt."""
    deadline: Pause | None = None
    """Longest time of the phase, at the request's confidence; it ends before the job starts, and the job's own deadline
    does not count it."""
