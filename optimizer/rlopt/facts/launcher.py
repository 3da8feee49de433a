"""What launchers do when a machine is lost, which kernels they have, and what SkyPilot calls providers and GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Launcher:
    """A launcher; ``elastic`` is None where nothing states whether machines may join and leave."""

    name: str
    elastic: bool | None
    source: str
    note: str
    chunked_loss: bool | None = None
    """Whether its training can keep from holding all logits; None where nothing states it."""
    kernels_source: str = ""


@dataclass(frozen=True, slots=True)
class SkyPilotNames:
    """Names of one version of SkyPilot; what is missing has no name that it states."""

    version: str = ""
    providers: Mapping[str, str] = field(default_factory=dict)
    accelerators: Mapping[str, str] = field(default_factory=dict)
    """By GPU, everywhere but where a provider has a name of its own."""
    of_provider: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def accelerator(self, provider: str, gpu: str) -> str | None:
        """SkyPilot's name of a GPU at a provider."""
        return self.of_provider.get(provider, {}).get(gpu) or self.accelerators.get(gpu)
