"""Where public prices are fetched from: one row for each provider."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SKYPILOT: Final = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8/{name}/vms.csv"
"""Address of SkyPilot's hosted catalog (sky/skylet/constants.py of github.com/skypilot-org/skypilot, November 2026)."""
GPUHUNT: Final = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3/{name}/latest/catalog.zip"
"""Where gpuhunt publishes a provider's catalog, .github/scripts/publish_catalog.sh of github.com/dstackai/gpuhunt."""


@dataclass(frozen=True, slots=True)
class PriceSource:
    """One provider's prices: where they stand, in which format, and what the publisher calls the provider."""

    provider: str
    format: str
    template: str
    theirs: str = ""

    @property
    def name(self) -> str:
        """Name of the user catalog that they are kept in."""
        return re.sub(r"[^a-z0-9._-]+", "-", f"{self.format}-{self.provider}".lower()).strip("-")[:64]

    @property
    def url(self) -> str:
        """The address."""
        return self.template.format(name=self.theirs or self.provider)


SOURCES: Final = (
    PriceSource("aws", "skypilot", SKYPILOT),
    PriceSource("azure", "gpuhunt", GPUHUNT),
    PriceSource("gcp", "gpuhunt", GPUHUNT),  # SkyPilot prices its hosts and GPUs apart
    PriceSource("lambda", "gpuhunt", GPUHUNT, "lambdalabs"),
    PriceSource("nebius", "gpuhunt", GPUHUNT),
    PriceSource("runpod", "skypilot", SKYPILOT),
    PriceSource("verda", "skypilot", SKYPILOT),
)
"""Only lists that their publisher collects anew by the day: a list that is edited by hand now and then would get the
day on which it was fetched."""


def sources_of(provider: str | None) -> tuple[PriceSource, ...]:
    """Rows of a provider, all where none is named.

    Raises
    ------
    InputError
        When there is none for it.
    """
    from rlopt.errors import InputError

    found = tuple(one for one in SOURCES if provider in (None, one.provider))
    if not found:
        known = ", ".join(one.provider for one in SOURCES)
        message = f"no public price list of {(provider or '')[:80]!r} is known"
        raise InputError.of("--provider", message, allowed=known, fix="give its address with --from URL")
    return found
