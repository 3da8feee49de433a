"""Which offers a row of a request speaks of: quotas, waits."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlopt.facts import Catalog
from rlopt.market.market import named_devices
from rlopt.problem import Market


class OfferPattern(Protocol):
    """Keys that an offer must match; None matches everything."""

    @property
    def provider(self) -> str | None:
        """Provider."""
        ...

    @property
    def region(self) -> str | None:
        """Region."""
        ...

    @property
    def gpu(self) -> str | None:
        """GPU type or family."""
        ...

    @property
    def pricing(self) -> str | None:
        """Pricing."""
        ...


def offers_that_match(row: OfferPattern, market: Market, catalog: Catalog) -> NDArray[np.bool_]:
    """Which offers match all given keys of ``row``, shape (offers,)."""
    devices = None if row.gpu is None else named_devices(row.gpu, catalog)
    return np.array(
        [
            (row.provider is None or offer.provider == row.provider)
            and (row.region is None or offer.region == row.region)
            and (row.pricing is None or offer.pricing == row.pricing)
            and (devices is None or offer.shape.device in devices)
            for offer in market.offers
        ],
        dtype=np.bool_,
    )
