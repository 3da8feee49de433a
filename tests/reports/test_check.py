"""What `rlopt check` prints: facts as they are, each default on a line of its own."""

from __future__ import annotations

from rlopt.reports.layout import to_text
from rlopt.reports.text.check import check_report


def test_each_default_has_a_line() -> None:
    group = "at defaults, runs: job.trials: one run; each adds a run; job.pilots: none; job.kernels.loss: whole"
    text = to_text(*check_report(["steps: 100", group]), width=80)
    assert text.splitlines() == [
        "steps: 100",
        "at defaults, runs:",
        "  - job.trials: one run; each adds a run",
        "  - job.pilots: none",
        "  - job.kernels.loss: whole",
    ]


def test_long_facts_are_wrapped() -> None:
    assert max(map(len, to_text(*check_report(["word " * 40]), width=60).splitlines())) <= 60
