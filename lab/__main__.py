"""Commands of the bench: `python -m lab COMMAND [arguments]`; each module says what it takes.

calibrate fits the constants of catalogs/calibration; accuracy, evaluation, figures, savings and seeds write the page
of that name in docs/.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

from lab.accuracy import page as accuracy
from lab.evaluation import runs as evaluation
from lab.figures import page as figures
from lab.fitting import calibrate
from lab.savings import runs as savings
from lab.seeds import page as seeds

COMMANDS: Final[Mapping[str, Callable[[list[str]], int]]] = {
    "calibrate": calibrate.main,
    "accuracy": accuracy.main,
    "evaluation": evaluation.main,
    "figures": figures.main,
    "savings": savings.main,
    "seeds": seeds.main,
}


def main(arguments: list[str]) -> int:
    """Run one command."""
    if not arguments or arguments[0] not in COMMANDS:
        sys.stderr.write(f"python -m lab {'|'.join(COMMANDS)}\n")
        return 2
    return COMMANDS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
