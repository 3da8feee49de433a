"""One plan as templates lay it out: finished texts in the language in use, and the charts beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlopt.answers.plan import BillLine, Plan, Pool
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.blocks import Section, sections
from rlopt.reports.page.choice import Choice
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.bill import COLOURS, bill_figure
from rlopt.reports.page.figures.hours import when_figure
from rlopt.reports.page.figures.memory import memory_figure
from rlopt.reports.page.figures.step import step_figure
from rlopt.reports.text import bill as text_bill
from rlopt.reports.text import certainty as text_certainty
from rlopt.reports.text import pools as text_pools
from rlopt.reports.text.frontier import gpus
from rlopt.reports.text.plan import plan_report
from rlopt.reports.timeline import waiting_seconds
from rlopt.words import Placement


@dataclass(frozen=True)
class Given:
    """A request for people to read; nothing of it is interpreted.

    Parameters
    ----------
    name
        The file's name, without its folder.
    text
        The whole file.
    extends
        Presets and files that it builds on, in the order they were merged.
    overrides
        ``key=value`` texts of ``--set``.
    """

    name: str
    text: str
    extends: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()


OWN: Final = ("", "Machines", "Bill")
"""Sections of the text report that have a form of their own on a page."""
LISTED: Final = ("Other speeds, other prices", "Other machines, little more")
"""Sections that the list of whole plans stands for, where there are several."""
TURNS: Final[Mapping[str, str]] = {
    Placement.COLOCATED: "The same GPUs do one stage after the other.",
    Placement.DISAGGREGATED: (
        "The pools take turns: those that train wait for samples, those that generate for new weights."
    ),
    Placement.ASYNC: (
        "The pools work at the same time: some generate samples while others train on those of the step before."
    ),
}
"""What a timeline of each placement shows."""


@dataclass(frozen=True)
class Fact:
    """A number that stands large, what it is above it and what qualifies it below."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class PoolCard:
    """A pool as a card."""

    name: str
    what: str
    where: str
    price: str
    details: list[str]


@dataclass(frozen=True)
class Dimension:
    """A part of the bill with its lines: name, kind, amount and basis."""

    name: str
    colour: str
    amount: str
    share: str
    lines: list[tuple[str, str, str, str]]


@dataclass(frozen=True)
class PlanView:
    """Everything that is said of one plan."""

    number: int
    headline: str
    standing: str
    proven: bool
    more: list[str]
    facts: list[Fact]
    machines: list[PoolCard]
    bill: list[Dimension]
    total: str
    """Without its currency."""
    converted: str
    """The same in the report's own currency, where that is another one."""
    how_sure: list[str]
    how: list[str]
    """What the timeline of a step shows."""
    sections: list[Section]
    figures: dict[str, Figure]
    document: str
    """The plan itself as JSON."""

    def section(self, key: str) -> Section | None:
        """The section of this English title."""
        return next((one for one in self.sections if one.key == key), None)


def plan_view(choice: Choice, alone: bool) -> PlanView:
    """Say everything of a plan; ``alone`` where there is no other to choose."""
    plan = choice.plan
    parts = sections(plan_report(plan))
    bill = next((one for one in parts if one.key == "Bill"), None)
    lead = [block.content for block in parts[0].blocks if block.kind == "text"]
    return PlanView(
        number=choice.number,
        headline=lead[0],
        standing="".join(lead[1:2]),
        proven=plan.status in ("optimal", "infeasible"),
        more=lead[2:],
        facts=_facts(plan),
        machines=[_machine(pool) for pool in plan.pools],
        bill=_bill(plan),
        total="" if plan.cost is None else text_bill.amount(plan.cost.total_usd),
        converted=_converted(plan),
        how_sure=[] if bill is None else [block.content for block in bill.blocks if block.kind == "text"],
        how=_how(plan),
        sections=[one for one in parts if one.key not in (*OWN, *(() if alone else LISTED))],
        figures=_figures(plan),
        document=json.dumps(plan.document(), ensure_ascii=False, allow_nan=False),
    )


def _facts(plan: Plan) -> list[Fact]:
    if plan.cost is None or plan.time is None:
        return []
    time, certainty, found = plan.time, plan.certainty, []
    note = ""
    if certainty is not None and certainty.high_usd is not None:
        low, high = words.usd(certainty.low_usd), words.usd(certainty.high_usd)
        note = f"{words.chances(certainty.confidence)} cost between {low} and {high}"
    found.append(Fact("total", words.money(plan.cost.total_usd, plan.currency, plan.exchange_rates), note))
    expected = f"{words.chances(time.confidence)} are done by then, {words.hours(time.expected_hours)} expected"
    found.append(Fact("done within", words.hours(time.confident_hours), expected))
    if time.deadline_hours is not None:
        sure = None if certainty is None else certainty.deadline_probability
        value = words.hours(time.deadline_hours)
        met = "" if sure is None else f"{text_certainty.share_in_words(sure)} of runs meet it"
        found.append(Fact("deadline", value, met))
    rate = words.usd(sum(pool.usd_per_hour for pool in plan.pools))
    found.append(Fact("machines", gpus(plan), f"{rate} per hour, all machines together"))
    return [Fact(tr(one.name), tr(one.value), tr(one.note)) for one in found]


def _machine(pool: Pool) -> PoolCard:
    cards = f"{pool.gpus} × {pool.gpu}" if pool.gpu else ""
    nodes = f"{pool.nodes} × {pool.instance_type}"
    place = " ".join(part for part in (pool.provider, pool.zone or pool.region or tr("any region")) if part)
    paid = tr(words.PRICING.get(pool.pricing, pool.pricing))
    return PoolCard(
        name=pool.name,
        what=cards or nodes,
        where=" · ".join(part for part in (nodes if cards else "", place, paid) if part),
        price=tr(f"{words.usd(pool.usd_per_hour)} per hour"),
        details=[tr(text) for text in text_pools.details(pool)],
    )


def _bill(plan: Plan) -> list[Dimension]:
    """Dimensions and the lines in each, dearest first; lines of zero are kept, since they were considered."""
    if plan.cost is None:
        return []
    lines: dict[str, list[BillLine]] = {}
    for line in plan.cost.lines:
        lines.setdefault(line.dimension, []).append(line)
    sums = {name: sum(line.usd for line in members) for name, members in lines.items()}
    return [
        Dimension(
            name=tr(name),
            colour=COLOURS[name],
            amount=text_bill.amount(sums[name]),
            share=text_bill.share(sums[name], plan.cost.total_usd),
            lines=[
                (tr(line.item), tr(line.kind), text_bill.amount(line.usd), tr(line.basis))
                for line in sorted(lines[name], key=lambda line: -line.usd)
            ],
        )
        for name in sorted(sums, key=lambda name: -sums[name])
    ]


def _converted(plan: Plan) -> str:
    if plan.cost is None or plan.currency == "USD":
        return ""
    return words.money(plan.cost.total_usd, plan.currency, plan.exchange_rates)


def _how(plan: Plan) -> list[str]:
    """Whether pools take turns or work at once, and what they then wait for each other."""
    if plan.time is None or plan.decisions is None:
        return []
    found, seconds = [TURNS.get(plan.decisions.placement, "")], waiting_seconds(plan)
    if plan.decisions.precision.rollout is None:
        found = ["One pool does one stage after the other."]
    if seconds:
        share = words.percent(seconds / plan.time.step_seconds)
        found.append(
            f"The gap, {words.seconds(seconds)} of a step ({share}): pools that work at once still wait for each other."
        )
    return [tr(text) for text in found if text]


def _figures(plan: Plan) -> dict[str, Figure]:
    if plan.cost is None:
        return {}
    found = {
        "bill": bill_figure(plan.cost),
        "memory": memory_figure(plan.pools),
        "step": step_figure(plan),
        "when": when_figure(plan),
    }
    return {name: one for name, one in found.items() if one is not None}


def views(chosen: Sequence[Choice]) -> list[PlanView]:
    """One for each plan, in the order of the choices."""
    return [plan_view(one, len(chosen) == 1) for one in chosen]
