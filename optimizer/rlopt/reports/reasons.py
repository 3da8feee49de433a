"""Why something was left out, and warnings said once: the program's keys as a reader's sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rlopt.reports import words

LEFT_OUT: Final[Mapping[str, str]] = {
    "choices.providers": "offers of other providers",
    "choices.countries": "offers in other countries",
    "choices.regions": "offers in other regions",
    "choices.zones": "offers in other zones",
    "choices.gpus": "offers of other GPUs",
    "choices.pricing": "offers that are paid in another way",
    "choices.price_confidence": "offers whose price is not certain enough",
    "choices.grades": "offers whose price is of another grade",
    "limits.deadline": "plans that would be late",
    "limits.budget": "plans above the budget",
    "limits.budget.compute": "plans above the budget for machines",
    "limits.budget.storage": "plans above the budget for storage",
    "limits.budget.network": "plans above the budget for traffic",
    "limits.budget.cache": "plans above the budget for fast stores",
    "limits.budget.logging": "plans above the budget for logs",
    "limits.budget.operations": "plans above the budget for failures, idle time and people",
    "limits.budget.data": "plans above the budget for work on the data",
    "limits.hourly_budget": "plans above the hourly budget",
    "limits.storage": "offers without a store that is stated to be what is asked",
    "limits.max_gpus": "plans with more GPUs than allowed",
    "limits.quotas": "plans with more GPUs than a quota allows",
    "floors.group_size": "plans with fewer samples per prompt than asked for",
    "floors.samples_per_update": "plans with fewer samples per update than asked for",
    "floors.informative_groups": "plans with fewer informative groups than asked for",
    "floors.update_precision": "plans that train in a lower precision than allowed",
    "floors.data_precision": "plans that keep data in a lower precision than allowed",
    "floors.text_log_rate": "plans that keep the text of fewer samples than asked for",
    "floors.core_metrics.every": "plans that write metrics less often than asked for",
    "floors.checkpoints.history_every": "plans that keep fewer checkpoints of their history than asked for",
    "floors.checkpoints.recovery_time": "plans that are back at work too late after a failure",
    "floors.on_demand_share": "plans with too many GPUs that can be taken back",
    "floors.max_staleness": "plans that train on samples older than allowed",
    "floors.score_precision": "plans that score in a lower precision than allowed",
    "floors.value_bins": "plans whose value model has fewer bins than asked for",
    "floors.value_params": "plans whose value model has fewer weights than asked for",
    "floors.replay_buffer": "plans that hold fewer trajectories than asked for",
    "floors.simulator_bandwidth": "plans with a slower network than asked for, or one that is not known",
    "needs more host memory than the machine has": "machines with too little host memory",
    "needs more memory than there is": "layouts that need more memory than there is",
    "dominated by other pools": "pools that others beat in everything that a rule or a price looks at",
    "bounded by a known plan": "plans that cannot beat one already found",
    "pools bounded by a known plan or a limit": "pools that cannot be part of a better plan within the limits",
}
"""What each key of ``solver.excluded`` counts; a key that is not here is a reason in words already."""
NAMED_AT_MOST: Final = 3
"""Subjects of one repeated warning that are named before they are only counted."""


def left_out(key: str, number: int) -> str:
    """``912: offers of other GPUs (choices.gpus)``."""
    dotted = "." in key and " " not in key
    known = LEFT_OUT.get(key.partition("[")[0])
    if known is not None:
        return f"{number:,}: {known}" + (f" ({key})" if dotted else "")
    return f"{number:,}: plans outside {key}" if dotted else f"{number:,}: {key}"


def said_once(warnings: Iterable[str]) -> list[str]:
    """Put warnings that say the same of several things together, in the order of their first words.

    ``X: text`` and ``Y: text`` become ``text: X and Y``; of more than three, one is named and the rest counted.
    """
    by_text: dict[str, list[str]] = {}
    for warning in dict.fromkeys(warnings):
        subject, colon, text = warning.partition(": ")
        is_name = bool(colon) and "/" in subject
        by_text.setdefault(text if is_name else warning, []).extend([subject] if is_name else [])
    found = []
    for text, subjects in by_text.items():
        if len(subjects) <= 1:
            found.append(": ".join([*subjects, text]))
        elif len(subjects) <= NAMED_AT_MOST:
            found.append(f"{text}: {words.listed(subjects)}")
        else:
            found.append(f"{text}: {subjects[0]} and {len(subjects) - 1} more, each named in the plan's JSON")
    return found
