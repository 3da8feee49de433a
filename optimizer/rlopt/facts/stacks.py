"""How rows of measurements are read: which stack or recipe wrote one, and what holds where it does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StackFacts:
    """A family of training stacks and what it does where a row does not say.

    Parameters
    ----------
    engine
        Name in the calibration's engines.
    recompute
        none | selective | full.
    fused_attention, chunked_loss, sequence_parallel
        As in `rlopt.estimates.Stack`.
    knows_attention
        Whether ``fused_attention`` holds whatever the row says: tables often say yes of a stack as a whole.
    """

    engine: str
    recompute: str = "none"
    fused_attention: bool = True
    chunked_loss: bool = False
    sequence_parallel: bool = True
    knows_attention: bool = False


@dataclass(frozen=True, slots=True)
class StackSource:
    """What runs of a source were trained with: of a row in whose text every pattern is found."""

    match: tuple[str, ...]
    facts: StackFacts


@dataclass(frozen=True, slots=True)
class UntimedSource:
    """Rows in whose text every pattern is found say nothing of how fast a stack trains."""

    match: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class StackTable:
    """Sources of training rows, the first that matches counts, and what a row leaves blank."""

    sources: tuple[StackSource, ...]
    untimed: tuple[UntimedSource, ...]
    defaults: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoopTable:
    """Recipes of sampling loops by framework, cells that trainers' pages state once for all, and the defaults."""

    recipes: Mapping[str, Mapping[str, Any]]
    trainers: Mapping[str, Mapping[str, str]]
    defaults: Mapping[str, Any]

    def recipe(self, framework: str, key: str) -> Any:
        """What a framework's recipes do where a row does not say; ``None`` where they differ."""
        return self.recipes.get(framework, {}).get(key, self.recipes["other"].get(key))
