"""Logs of launchers: what their steps took, read line by line; formats by launcher, told by content."""

from __future__ import annotations

from typing import cast

from rlopt.logs import nemo_rl, openrlhf, slime, trl, verl
from rlopt.logs.contract import Launcher

LAUNCHERS: tuple[Launcher, ...] = tuple(cast("Launcher", one) for one in (verl, openrlhf, trl, nemo_rl, slime))
NAMES: tuple[str, ...] = tuple(one.NAME for one in LAUNCHERS)


__all__ = ["LAUNCHERS", "NAMES", "Launcher"]
