"""Logs of launchers: what their steps took, read line by line; formats by launcher, told by content."""

from __future__ import annotations

from rlopt.launchers.logs.contract import LauncherLog
from rlopt.launchers.nemo_rl import log as nemo_rl
from rlopt.launchers.openrlhf import log as openrlhf
from rlopt.launchers.slime import log as slime
from rlopt.launchers.trl import log as trl
from rlopt.launchers.verl import log as verl

LAUNCHERS: tuple[LauncherLog, ...] = (verl, openrlhf, trl, nemo_rl, slime)
NAMES: tuple[str, ...] = tuple(one.NAME for one in LAUNCHERS)


__all__ = ["LAUNCHERS", "NAMES", "LauncherLog"]
