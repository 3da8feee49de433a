"""The text beside an export: what was written, what to fill in, what was not said, what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import TextWrapper
from typing import Final

from rlopt.answers.plan import Pool
from rlopt.launchers.exports.contract import Export
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.text import MARK, one_line
from rlopt.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

WIDTH: Final = 110
NEXT: Final = "rlopt solve prints the whole plan; docs/export.md of rlopt tells each key."


def notes_of(run: Run, made: Export) -> str:
    """README of an export."""
    plan, cost = run.plan, run.plan.cost
    money = "" if cost is None else f"{cost.total_usd:,.2f} USD for {run.request.job.trials} run(s), "
    lines = [f"{MARK}: {one_line(run.request.job.name)} for {made.launcher} {made.version}", ""]
    lines += [
        f"{money}{run.time.expected_hours:,.1f} h expected, {run.steps:,} steps of {run.time.step_seconds:,.1f} s."
    ]
    lines += _part("Files", made.files)
    lines += _part("Fill in before the start (launch.sh stops where one without a default is missing)", _blanks(made))
    if made.smoke_seconds is not None:
        lines += _part("Short trial", [smoke_line(made.smoke_seconds)])
    lines += _part("Machines", [pool_line(pool) for pool in plan.pools])
    lines += _part("Check before the start", made.checks)
    lines += _part("Not expressed: the plan says it, the launcher cannot be told", [str(gap) for gap in made.gaps])
    lines += _part("No part of a plan, so the launcher's own defaults stand", [_OWN])
    lines += _part("Warnings of the plan", plan.warnings)
    return "\n".join([*lines, "", NEXT]) + "\n"


_OWN: Final = "learning rate and schedule, KL coefficient, clip ranges, sampling temperature, seeds, data columns"


def smoke_line(seconds: float) -> str:
    """How long the short trial takes, for people."""
    minutes = seconds / SECONDS_PER_MINUTE
    took = f"{minutes:,.0f} min" if seconds < 2.0 * SECONDS_PER_HOUR else f"{seconds / SECONDS_PER_HOUR:,.1f} h"
    return f"smoke.sh: 3 steps at full length without checkpoints, about {took} by the plan, start of machines included"


def pool_line(pool: Pool) -> str:
    """One pool in a line."""
    place = "/".join(part for part in (pool.provider, pool.region, pool.zone) if part)
    what = f"{pool.nodes} x {pool.instance_type} at {place}, {pool.pricing}, {pool.usd_per_hour:,.2f} USD/h"
    layout = {} if pool.layout is None else pool.layout.model_dump(exclude_none=True)
    degrees = ", ".join(f"{key} {value}" for key, value in layout.items())
    memory = pool.memory
    held = (
        "" if memory is None else f"; {memory.needed_gib:.1f} of {memory.capacity_gib:.1f} GiB, peak in {memory.stage}"
    )
    return f"{pool.name} ({', '.join(pool.roles)}): {what}" + (f"; {degrees}" if degrees else "") + held


def _blanks(made: Export) -> list[str]:
    return [
        f"{one.variable}: {one.what}" + ("" if one.default is None else f" (default: {one.default})")
        for one in made.blanks
    ]


def _part(title: str, lines: Iterable[str] | Sequence[str]) -> list[str]:
    found = [one for line in lines for one in _wrapped(line)]
    return ["", title, "-" * len(title), *(found or ["- nothing"])]


def _wrapped(line: str) -> list[str]:
    """An entry of a list; addresses and names are never broken."""
    shape = TextWrapper(WIDTH, "- ", "  ", break_on_hyphens=False, break_long_words=False)
    return shape.wrap(one_line(line))
