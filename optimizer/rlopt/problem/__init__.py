"""Everything the search needs, frozen: pool candidates column by column, and the joint columns made of them.

A joint column is one complete way to run the job: placement, group size, precision, a training pool, a rollout pool
(none when colocated), checkpoint interval and tier. Its hours and cost are plain numbers, so the program over joint
columns is exact by construction.
"""

from rlopt.problem.columns import Columns
from rlopt.problem.market import Market, Topology
from rlopt.problem.pools import UNSCORED, Pools
from rlopt.problem.problem import Problem
from rlopt.problem.recovery import Checkpoint, RecoveryOption
from rlopt.problem.side_pools import SidePools
from rlopt.problem.times import Growth, Mix, Seconds, Times
from rlopt.table import Floats, Ints

__all__ = [
    "UNSCORED",
    "Checkpoint",
    "Columns",
    "Floats",
    "Growth",
    "Ints",
    "Market",
    "Mix",
    "Pools",
    "Problem",
    "RecoveryOption",
    "Seconds",
    "SidePools",
    "Times",
    "Topology",
]
