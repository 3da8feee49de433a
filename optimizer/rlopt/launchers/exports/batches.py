"""Batches that divide: launchers refuse, at start or while running, what does not come out even over the ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.run import Run

KEEP_MICRO_BATCH_WITHIN = 1.05
"""A batch may grow by this factor to keep the plan's micro-batch; beyond it the micro-batch shrinks instead."""


@dataclass(frozen=True, slots=True)
class StepBatches:
    """Samples of a step as a launcher takes them."""

    prompts: int
    """P, where needed a little more than the plan's."""
    micro_batch: int
    """Samples that a rank holds at once, at most the plan's."""
    ranks: int
    """Data-parallel ranks."""
    accumulation: int
    """Micro-batches of a rank for one update."""
    gaps: tuple[Gap, ...] = ()


def batch_of(run: Run, ranks: int, whole: bool = True) -> StepBatches:
    """The plan's batch over ``ranks`` data-parallel ranks: P · K / U must be whole micro-batches on each.

    P grows to the next number that divides; where keeping the micro-batch too would add over 5 %, it shrinks. Where
    micro-batches are filled by tokens (``whole`` false) the samples alone must divide over the ranks.
    """
    if not whole:
        prompts = _prompts(run, ranks)
        each = prompts * run.group // (run.updates * ranks)
        found = _grown(run, prompts, ranks)
        return StepBatches(prompts, run.micro_batch, ranks, max(1, -(-each // run.micro_batch)), found)
    keeping = _prompts(run, ranks * run.micro_batch)
    prompts = keeping if keeping <= KEEP_MICRO_BATCH_WITHIN * run.prompts else _prompts(run, ranks)
    each = prompts * run.group // (run.updates * ranks)
    micro = max(size for size in range(1, min(run.micro_batch, each) + 1) if each % size == 0)
    gaps = [*_grown(run, prompts, ranks)]
    if micro != run.micro_batch:
        says = f"micro-batches of {run.micro_batch} do not divide {each} samples of a rank, so {micro} is written"
        gaps.append(Gap(says, "updates take a little longer, memory is less", True))
    if run.halves_a_pair:
        says = "the plan holds one sequence of a pair at once, the launcher both"
        gaps.append(Gap(says, "see that twice the activations fit, or plan with more memory", True))
    return StepBatches(prompts, micro, ranks, each // micro, tuple(gaps))


def _grown(run: Run, prompts: int, ranks: int) -> tuple[Gap, ...]:
    if prompts == run.prompts:
        return ()
    says = f"{run.prompts} prompts a step do not divide over {ranks} data-parallel ranks, so {prompts} are written"
    more = 100.0 * (prompts / run.prompts - 1.0)
    return (Gap(says, f"a step has {more:.1f} % more samples; choose prompts_per_step that divides", True),)


def _prompts(run: Run, unit: int) -> int:
    """Least number of prompts from the plan's on whose samples of each update are multiples of ``unit``."""
    every = math.lcm(run.updates, unit * run.updates // math.gcd(unit * run.updates, run.group))
    return math.ceil(run.prompts / every) * every
