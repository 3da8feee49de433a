"""What a comparison compares: files of requests and plans, or one request by several algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rlopt.answers.comparison import Comparison
from rlopt.answers.plan import Plan
from rlopt.reading.compared import load_compared
from rlopt.reading.plan_file import is_plan, read_plan
from rlopt.request import Request
from rlopt.studies.compare import Entry, compare


def side_by_side(
    files: Sequence[Path],
    algorithms: Sequence[str],
    overrides: Sequence[str],
    load: Callable[[Path], Request],
    solved: Callable[[Request], Plan],
) -> Comparison:
    """Compare files; requests are read by ``load`` and solved by ``solved``. Raises InputError."""
    if len(files) == 1:
        variants = load_compared(files[0], algorithms, overrides)
        return compare([Entry(one.algorithm, solved(one.request), one.request, one.left_out) for one in variants])
    plain = len({path.name for path in files}) == len(files)

    def entry(path: Path) -> Entry:
        name = path.name if plain else str(path)
        if is_plan(path):
            return Entry(name, read_plan(path))
        request = load(path)
        return Entry(name, solved(request), request)

    return compare([entry(path) for path in files])
