"""Whether the keys of a request agree with each other and with the algorithm; all findings at once.

The checks read the merged tree before it becomes a `Request`, so that they speak up beside faults of
single values. Each is a small function of a `View`; `CHECKS` is the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rlopt.reading.agreement.acting import heads, heads_steps
from rlopt.reading.agreement.algorithms import growth, sampling, some_algorithms, texts, vla
from rlopt.reading.agreement.contract import Check, Finding, View
from rlopt.reading.agreement.defaults import with_defaults
from rlopt.reading.agreement.groups import group_sizes, informative_groups
from rlopt.reading.agreement.options import model_options, reward_quality
from rlopt.reading.agreement.roles import own_scoring, pairs, roles_fit, trained_parts
from rlopt.reading.agreement.run import data_work, length_of_run, loading
from rlopt.reading.agreement.value_model import offline, shared_value, value_bins
from rlopt.reading.agreement.world import currencies, files

CHECKS: Final[tuple[Check, ...]] = (
    length_of_run,
    roles_fit,
    model_options,
    reward_quality,
    pairs,
    texts,
    growth,
    vla,
    sampling,
    some_algorithms,
    own_scoring,
    loading,
    value_bins,
    heads,
    heads_steps,
    shared_value,
    offline,
    group_sizes,
    informative_groups,
    currencies,
    trained_parts,
    data_work,
    files,
)


def check(tree: Mapping[str | int, Any]) -> list[Finding]:
    """Run every check on a merged tree."""
    view = View(tree)
    return [finding for one in CHECKS for finding in one(view)]


__all__ = ["CHECKS", "Finding", "check", "with_defaults"]
