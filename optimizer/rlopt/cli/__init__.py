"""The command line: one small file per command, each a thin shell over a function of `rlopt.api`.

Results go to stdout, everything else to stderr. Exit codes (`rlopt.cli.exits`): 0 done, 2 bad input,
3 proven infeasible, 4 stopped at the time limit without a proof, 1 an internal fault.

Nothing heavy is imported while the commands are declared; each imports what it needs when it runs.
"""

from __future__ import annotations

from rlopt.cli.entry import main

__all__ = ["main"]
