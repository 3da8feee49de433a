"""What a plan says of the phases before it."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.plan import PhaseUsed, PriceUsed
from rlopt.costs.phases import phases_of
from rlopt.problem import Problem
from rlopt.workloads.variants import Variant


def phases_used(variant: Variant, problem: Problem) -> list[PhaseUsed]:
    """The phases that the plan's way to run the job asks for."""
    return [
        PhaseUsed(
            name=phase.name,
            model=phase.option,
            usd=phase.usd or 0.0,
            runs=phase.runs,
            expected_hours=phase.hours,
            confident_hours=phase.confident_hours,
            machines=phase.machines,
        )
        for phase in phases_of(variant, problem)
    ]


def phase_notes(variant: Variant, problem: Problem, known: Sequence[str]) -> list[str]:
    """What is to be said of those phases, and not of the job as well (``known``)."""
    said = set(known)
    notes = [text for phase in phases_of(variant, problem) for text in phase.says]
    return [text for text in notes if text.partition(": ")[2] not in said and text not in said]


def phase_prices(variant: Variant, problem: Problem) -> list[PriceUsed]:
    """Prices that the bills of those phases rest on."""
    return [PriceUsed.model_validate(price) for phase in phases_of(variant, problem) for price in phase.prices]
