"""Figures that follow from plans: more rounds, fewer cards, cost for the same performance."""

from __future__ import annotations

import csv
from functools import lru_cache
from statistics import median

from lab.figures.contract import Figure, inside, verdict
from lab.pages import markdown, percent
from lab.savings.page import hours, saved, usd
from lab.savings.runs import EXAMPLES, FOUND
from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.studies.configuration.published import Published, compare

REWARD_MODEL = "05-rm-opt350m-dirty-data"
LANGUAGE_MODEL = "02-sft-llama3.1-8b-deadline"
ROUNDS, ROUNDS_COST = 0.30, 0.22
CARDS_TIME, CARDS_COST = 0.15, 0.45
LONG_EPOCHS = 10
SAVING = (0.30, 0.50)


@lru_cache
def solved(name: str, *overrides: str) -> Plan:
    """The cheapest plan of an example with some keys changed."""
    request = api.load(EXAMPLES / f"{name}.yaml", overrides)
    return api.solve(request, short_frontier=False).require()


def run_usd(plan: Plan) -> float:
    """The bill of a plan without what is paid for samples, which neither rounds nor cards change."""
    assert plan.cost is not None
    return sum(line.usd for line in plan.cost.lines if line.dimension != "data")


def compute_usd(plan: Plan) -> float:
    """Machines alone."""
    assert plan.cost is not None
    return sum(line.usd for line in plan.cost.lines if line.dimension == "compute")


def rounds() -> Figure:
    """30 % more rounds on dirty data."""
    rows, grown = [], []
    for what, epochs in (("1 epoch", 1), (f"{LONG_EPOCHS} epochs", LONG_EPOCHS)):
        clean, dirty = (
            solved(REWARD_MODEL, f"job.epochs={epochs}", f"job.data.cleaned={state}") for state in ("true", "false")
        )
        assert clean.time is not None
        assert dirty.time is not None
        assert [pool.offer for pool in clean.pools] == [pool.offer for pool in dirty.pools], "same machines"
        start = clean.time.startup_hours / clean.time.expected_hours
        grown.append(compute_usd(dirty) / compute_usd(clean) - 1.0)
        rows.append(
            (
                what,
                f"{clean.time.steps:,} → {dirty.time.steps:,}",
                percent(start),
                percent(grown[-1], signed=True),
                percent(run_usd(dirty) / run_usd(clean) - 1.0, signed=True),
            )
        )
    columns = ("run", "steps", "hours outside the steps", "compute", "bill without labels")
    return Figure(
        "More rounds",
        "30 % more rounds cost 22 % more",
        "+22 %",
        f"{percent(grown[0], signed=True)} to {percent(grown[-1], signed=True)}",
        verdict(any(inside(share, ROUNDS_COST, ROUNDS_COST) for share in grown)),
        f"`{REWARD_MODEL}`: dirty data take 30 % more rounds than clean ones. Both plans rent the same machines.",
        markdown(columns, rows, 4),
        "What does not grow with the rounds dilutes them: machines start and are given back once, however long they "
        f"train. {percent(ROUNDS_COST)} for {percent(ROUNDS)} means that "
        f"{percent(1.0 - ROUNDS_COST / ROUNDS)} of the cost stands still, which is a short run; a long one pays nearly "
        "all of it.",
    )


def cards() -> Figure:
    """8 cards against 4."""
    rows, found = [], []
    cases = (
        (REWARD_MODEL, "L40S", "0.35 B, 64 pairs a step"),
        (LANGUAGE_MODEL, "H100-SXM", "8 B, 512 sequences a step"),
    )
    for name, device, what in cases:
        problem = api.problem_of(api.load(EXAMPLES / f"{name}.yaml"))
        plans = [compare(problem, Published(device, gpus)).configuration for gpus in (8, 4)]
        eight, four = plans
        assert eight is not None
        assert four is not None
        assert eight.time is not None
        assert four.time is not None
        time = four.time.expected_hours / eight.time.expected_hours - 1.0
        cost = 1.0 - run_usd(four) / run_usd(eight)
        found.append((time, cost))
        steps = four.time.step_seconds / eight.time.step_seconds - 1.0
        rows.append(
            (
                f"{what}, {device}",
                f"{hours(eight.time.expected_hours)} → {hours(four.time.expected_hours)}",
                percent(time, signed=True),
                percent(steps, signed=True),
                f"{usd(run_usd(eight))} → {usd(run_usd(four))}",
                percent(-cost, signed=True),
            )
        )
    best_time, best_cost = found[0]
    columns = ("job", "hours", "time", "time of a step", "USD without labels", "cost")
    return Figure(
        "Fewer cards",
        "From 8 to 4 cards: 15 % more time, 45 % less cost",
        "+15 %, −45 %",
        "; ".join(f"{percent(time, signed=True)}, {percent(-cost, signed=True)}" for time, cost in found),
        verdict(
            inside(best_time, CARDS_TIME, CARDS_TIME),
            inside(best_cost, CARDS_COST, CARDS_COST),
        ),
        f"`{REWARD_MODEL}` and `{LANGUAGE_MODEL}`, each on 8 cards of one type and on 4 of the same.",
        markdown(columns, rows, 5),
        "Half the cards for 15 % more hours are 42 % fewer card-hours, so −45 % needs four cards that are a little "
        "cheaper each. It takes a job too small for eight: start-up does not shrink with cards, and a step of a small "
        "model waits for its gradients. What does not depend on cards (storage, a head node, people) keeps the saving "
        "smaller. A model that keeps eight cards busy takes nearly twice as long on four and saves next to nothing.",
    )


def performance() -> Figure:
    """Cost for the same performance: plans beside configurations that were published for the same steps."""
    with FOUND.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["configuration_usd"] and line["plan_usd"]]
    kinds = (("same job", "same job"), ("all that are priced", ""))
    rows, middle = [], 0.0
    for what, start in kinds:
        shares = [
            share
            for line in lines
            if line["match"].startswith(start)
            and (share := saved(float(line["plan_usd"]), float(line["configuration_usd"]))) is not None
        ]
        middle = median(shares)
        rows.append(
            (
                what,
                str(len(shares)),
                percent(middle),
                str(sum(share > SAVING[1] for share in shares)),
                str(sum(SAVING[0] <= share <= SAVING[1] for share in shares)),
                str(sum(0.0 < share < SAVING[0] for share in shares)),
                str(sum(share <= 0.0 for share in shares)),
            )
        )
    columns = ("published runs", "number", "median saved", "over 50 %", "30 to 50 %", "under 30 %", "none or dearer")
    return Figure(
        "Unit of performance",
        "Cost for a unit of performance falls by 30 to 50 %",
        "−30 % to −50 %",
        f"{percent(-middle, signed=True)} (median)",
        verdict(inside(middle, *SAVING)),
        "Plan and published configuration do the same steps on the same samples, so they reach the same performance, "
        "and dollars compare as dollars for a unit of it ([each run](savings.md)).",
        markdown(columns, rows, 6),
        "The spread is wider than the quoted range: it depends on how far the published machines were from the "
        "cheapest. Nothing is saved where they were the cheapest already, or where the example forbids what was run.",
    )
