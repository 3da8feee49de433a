"""Group sizes: choices, convergence table and floors together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import GENERATING, informative_group_size
from rlopt.request.values.kinds import show


def group_sizes(view: View) -> Iterator[Finding]:
    """Look for group sizes that are missing or that the convergence table excludes."""
    if view.algorithm not in GENERATING:
        return
    sizes, table = view.get("choices.group_size"), sizes_of_table(view)
    if sizes is None and not table and view.algorithm == "grpo" and floor_of_groups(view) is None:
        yield Finding(
            "choices.group_size",
            "is missing: grpo samples in groups",
            "a list of K, a convergence table, or floors.group_size",
            "add group_size: [8, 16]",
        )
    if isinstance(sizes, list) and table and not set(sizes_of(sizes)) & set(table):
        yield Finding(
            "choices.group_size",
            f"no size of {show(sizes)} has an entry in job.convergence",
            f"sizes among {', '.join(str(k) for k in table)}",
            f"write {table}",
        )


def informative_groups(view: View) -> Iterator[Finding]:
    """Look for what floors.informative_groups needs."""
    share, rate = view.number("floors.informative_groups"), view.number("job.pass_rate")
    if share is None or not 0 <= share < 1:
        return
    if view.algorithm not in (None, *GENERATING):
        yield Finding(
            "floors.informative_groups",
            f"does not apply to {view.algorithm}: there are no groups",
            f"algorithms {', '.join(GENERATING)}",
            "delete informative_groups",
        )
    elif view.get("job.pass_rate") is None:
        yield Finding(
            "floors.informative_groups",
            "needs job.pass_rate",
            "job.pass_rate between 0 and 1",
            "add pass_rate: 0.4 to job",
        )
    elif rate is not None and 0 < rate < 1 and informative_group_size(rate, share) is None:
        yield Finding(
            "floors.informative_groups",
            f"{share:g} cannot be reached at pass_rate {rate:g} by any group",
            "a share that groups of up to 100000 reach",
            "lower the share",
        )


def floor_of_groups(view: View) -> int | None:
    """Give the least K that the floors allow; None without such a floor."""
    bounds = [view.number("floors.group_size")]
    share, rate = view.number("floors.informative_groups"), view.number("job.pass_rate")
    if share is not None and rate is not None and 0 < rate < 1 and 0 <= share < 1:
        bounds.append(informative_group_size(rate, share))
    whole = [int(b) for b in bounds if b is not None and 1 <= b < 1e6]
    return max(whole, default=None)


def sizes_of_table(view: View) -> list[int]:
    """Group sizes that job.convergence has steps for, under any action head; none where it tells heads alone."""
    table = view.map("job.convergence")
    inner = [list(steps) for steps in table.values() if isinstance(steps, Mapping)]
    return list(dict.fromkeys(sizes_of([*table, *(size for sizes in inner for size in sizes)])))


def sizes_of(value: list[Any]) -> list[int]:
    """Keep the whole numbers of a list."""
    return [int(v) for v in value if isinstance(v, (int, float)) and not isinstance(v, bool) and v == v // 1]
