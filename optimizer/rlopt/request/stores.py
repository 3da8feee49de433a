"""What the stores of data and checkpoints must state of themselves."""

from __future__ import annotations

from typing import Annotated

from rlopt.request.choices import NamesKind
from rlopt.request.values.kinds import Switch
from rlopt.strict import Strict


class StoreLimits(Strict):
    """Facts that a store must be stated to have; disks of the machines themselves are no stores."""

    encrypted: Switch = False
    """Encrypted at rest without anything to be set up."""
    private: Switch = False
    """Reachable without the public internet."""
    countries: Annotated[tuple[str, ...] | None, NamesKind("[DE, FR]")] = None
    """Two-letter codes of countries that bytes may stand in, or any."""
