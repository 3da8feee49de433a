"""How a run gets over a stop: spare nodes, the wait for a replacement, the launcher, samples that go on elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from rlopt.request.values.kinds import Count, Kind, Name, is_written, refuse, show, unique
from rlopt.request.values.quantities import DurationOrZero
from rlopt.strict import Strict

NONE: Final = "none"
MOST_SPARES: Final = 64


@dataclass(frozen=True)
class CountsKind(Kind):
    """A whole number, or a list of them to choose from."""

    count: Count

    def read(self, value: Any, info: Any) -> tuple[int, ...]:
        """Return the numbers, each once."""
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if not items:
            message = "the list is empty: nothing could be chosen"
            raise refuse(message, f"{self.count.allowed}, or a list of them", "write for example [0, 1]")
        return unique(tuple(self.count.read(item, info) for item in items))

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        one = self.count.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


class RolloutsKind(Kind):
    """`none`, `{every: tokens}`, or a list of these to choose from; tokens once read, 0 for none."""

    allowed: Final = "none, {every: tokens}, or a list of these"
    fix: Final = "write for example [none, {every: 512}]"

    def read(self, value: Any, info: Any) -> tuple[int, ...]:
        """Return tokens between two copies of a response, 0 where none are made."""
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if not items:
            message = "the list is empty: nothing could be chosen"
            raise refuse(message, self.allowed, self.fix)
        return unique(tuple(self._one(item, info) for item in items))

    def _one(self, value: Any, info: Any) -> int:
        if value is None or value == NONE:
            return 0
        if isinstance(value, Mapping) and set(value) == {"every"}:
            return Count(1, 10**9, "512").read(value["every"], info)
        if not is_written(info) and isinstance(value, int):
            return Count(0, 10**9, "512").read(value, info)
        message = f"{show(value)} is not a way to keep unfinished responses"
        raise refuse(message, self.allowed, self.fix)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""
        every = {
            "type": "object",
            "properties": {"every": Count(1, 10**9).schema()},
            "required": ["every"],
            "additionalProperties": False,
        }
        one = {"anyOf": [{"const": NONE}, every]}
        return {"anyOf": [*one["anyOf"], {"type": "array", "items": one, "minItems": 1}]}


class Recovery(Strict):
    """How a run gets over the loss of a machine."""

    spare_nodes: Annotated[tuple[int, ...], CountsKind(Count(0, MOST_SPARES, "1"))] = (0,)
    """Nodes of the training pool's offer that stand ready, paid all the time: a number, or a list to choose from."""
    replace_wait: DurationOrZero = 0.0
    """Time until a lost machine is replaced, at each stop that no spare node ends, in seconds; beside the restart."""
    launcher: Name | None = None
    """Launcher of the catalog that runs the job: only where it is elastic does a lost rollout machine not stop it."""


class CheckpointChoices(Strict):
    """What is kept of unfinished work beside the weights."""

    rollouts: Annotated[tuple[int, ...], RolloutsKind()] = (0,)
    """Unfinished responses on shared storage: none | {every: tokens}, or a list of these to choose from."""
