"""The bill that came: split by hand, split in full whatever the numbers, and refused where it cannot be split."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.answers.plan import Plan
from rlopt.answers.review import Review, ReviewParts
from rlopt.errors import InputError
from rlopt.measured.bill import DIMENSIONS, BillRow
from rlopt.reports.layout import to_text
from rlopt.reports.text.review import PARTS, in_cents, review_report
from rlopt.studies.running.review import review
from tests.cli.conftest import Result
from tests.comparing.bills import planned, rows
from tests.reports import plans
from tests.reports.golden import check_golden

Run = Callable[..., Result]
BILL = """\
dimension,item,usd,trials,hours,price
compute,,1320,3,40,32.5
storage,,75,3,,
network,,5,,,
operations,setup,45,,,
"""


def _parts(found: Review) -> dict[str, float]:
    return {name: round(getattr(found.parts, name), 6) for name in PARTS if abs(getattr(found.parts, name)) > 1e-9}


def test_by_hand(tmp_path: Path) -> None:
    """Planned: 2 runs x 11 h x 30 USD/h + 15 USD before them.

    A third run: 11 h x 30 = 330, and 25 of storage. 40 h for 3 x 11 h: 7 x 30 = 210. 2.50 USD more an hour: 40 x 2.5 =
    100. Left of 1,320: 15 before the job and 40 x 32.5 = 1,300, so 5. Storage: 75 for 3 x 25 planned: no growth.
    """
    found = review(planned(), rows(tmp_path, BILL))
    assert (found.planned_usd, found.billed_usd, found.more_usd) == (775.0, 1445.0, pytest.approx(670.0))
    assert _parts(found) == {"trials": 355.0, "throughput": 210.0, "price": 100.0, "rest": 5.0}
    assert found.largest == "trials"
    assert found.unbilled == []
    machines = found.lines[0].machines
    assert machines is not None
    assert (machines.unit, machines.planned, machines.billed) == ("h", pytest.approx(22.0), 40.0)
    assert (machines.planned_trials, machines.billed_trials) == (2.0, 3.0)


def test_the_same_in_gpu_hours_and_with_prices_that_follow(tmp_path: Path) -> None:
    """12 GPUs: 40 h are 480 GPU-hours; without a price the 1,305 USD that hours explain are 2.71875 each."""
    text = "dimension,usd,trials,gpu_hours\ncompute,1320,3,480\nstorage,50,,\nnetwork,5,,\noperations,45,,\n"
    found = review(planned(), rows(tmp_path, text))
    assert _parts(found) == {"trials": 330.0, "throughput": 210.0, "price": 105.0}
    machines = found.lines[0].machines
    assert machines is not None
    assert (machines.unit, machines.planned_usd_per_unit) == ("GPU-h", pytest.approx(2.5))
    assert machines.billed_usd_per_unit == pytest.approx(1305 / 480)


def test_pools_by_themselves_carry_their_share_of_lost_hours_and_trials(tmp_path: Path) -> None:
    """Train: 22 h x 20 = 440 planned. Rollout stands in no row: 22 h x 10 = 220, with what else is not billed."""
    found = review(planned(), rows(tmp_path, "item,usd,hours\npool train,500,25\n"))
    line = found.lines[0]
    assert (line.planned_usd, line.dimension) == (pytest.approx(440.0), "compute")
    assert (line.parts.throughput, line.parts.price) == (pytest.approx(60.0), pytest.approx(0.0))
    gone = {one.item: one.usd for one in found.unbilled}
    assert gone["pool rollout"] == pytest.approx(220.0)
    assert "tuning trials" not in gone
    assert "loss to failures" not in gone
    assert found.parts.rest == pytest.approx(-sum(gone.values()))
    assert found.more_usd == pytest.approx(500.0 - 775.0)


def test_lost_hours_in_a_row_of_their_own_are_not_counted_twice(tmp_path: Path) -> None:
    text = "dimension,item,usd\ncompute,,615\noperations,loss to failures,90\n"
    found = review(planned(), rows(tmp_path, text))
    assert [line.planned_usd for line in found.lines] == [pytest.approx(615.0), pytest.approx(60.0)]
    assert found.lines[1].parts.rest == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("cells", "parts"),
    [
        ("675,,,", {}),
        ("1005,3,,", {"trials": 330.0}),
        ("705,,,", {"rest": 30.0}),
        ("705,,23,", {"throughput": 30.0}),
        ("705,,23,30", {"throughput": 30.0}),
        ("719,,22,", {"price": 44.0}),
        ("345,1,11,", {"trials": -330.0}),
        ("719,,,32", {"price": 44.0}),
    ],
)
def test_each_cause_alone_is_found(tmp_path: Path, cells: str, parts: dict[str, float]) -> None:
    text = f"dimension,usd,trials,hours,price\ncompute,{cells}\nstorage,50,,,\nnetwork,5,,,\noperations,45,,,\n"
    assert _parts(review(planned(), rows(tmp_path, text))) == parts


def test_growth_is_what_runs_do_not_explain(tmp_path: Path) -> None:
    text = "dimension,usd,trials\ncompute,675,\nstorage,95,3\nnetwork,8,\noperations,145,\n"
    found = review(planned(), rows(tmp_path, text))
    assert _parts(found) == {"trials": 25.0, "growth": 23.0, "rest": 100.0}


_numbers = st.floats(0.01, 1e6)
_maybe = st.none() | _numbers


@given(
    usd=st.lists(st.floats(-1e6, 1e6), min_size=7, max_size=7),
    trials=_maybe,
    hours=_maybe,
    gpu=st.booleans(),
    price=_maybe,
    named=st.booleans(),
)
def test_parts_add_up_whatever_the_numbers(
    usd: list[float], trials: float | None, hours: float | None, gpu: bool, price: float | None, named: bool
) -> None:
    facts = {"trials": trials, "gpu_hours" if gpu else "hours": hours, "price": price}
    bill = [BillRow(2 + i, name, "", usd[i]) for i, name in enumerate(DIMENSIONS) if name != "compute"]
    bill.append(BillRow(20, "compute", "pool train" if named else "", usd[0], **facts))
    plan = planned()
    found = review(plan, bill)
    assert plan.cost is not None
    scale = max(1.0, *(abs(getattr(line.parts, name)) for line in found.lines for name in PARTS))
    due = math.fsum(row.usd for row in bill) - plan.cost.total_usd
    assert found.more_usd == pytest.approx(due, abs=1e-9 * scale)
    for line in found.lines:
        total = math.fsum(getattr(line.parts, name) for name in PARTS)
        assert total == pytest.approx(line.billed_usd - line.planned_usd, abs=1e-9 * scale)
    kept = math.fsum(line.planned_usd for line in found.lines) + math.fsum(one.usd for one in found.unbilled)
    assert kept == pytest.approx(plan.cost.total_usd)


@given(parts=st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=5))
def test_shown_cents_add_up(parts: list[float]) -> None:
    record = ReviewParts(**dict(zip(PARTS, parts, strict=True)))
    more = math.fsum(parts)
    shown = in_cents(record, more)
    assert round(sum(round(value * 100) for value in shown.values())) == round(more * 100)
    assert all(abs(shown[name] - getattr(record, name)) < 0.04 for name in PARTS)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("dimension,usd\ncompute,abc\n", 2, "'abc' is not a number"),
        ("dimension,usd\ncompute,$12\n", 2, "not a number"),
        ("dimension,usd\ncompute,nan\n", 2, "not a number"),
        ("dimension,usd\ncompute,inf\n", 2, "not a number"),
        ("dimension,usd\ncompute,\n", 2, "is blank"),
        ("dimension,usd\nstorage,1\ncmpute,1\n", 3, "no dimension"),
        ("dimension,usd\ncompute,1\ncompute,2\n", 3, "line 2"),
        ("dimension,usd\n,1\n", 2, "blank, and so is item"),
        ("dimension,usd,hours,gpu_hours\ncompute,1,2,3\n", 2, "beside hours"),
        ("dimension,usd,hours\ncompute,1,-2\n", 2, "out of range"),
        ("dimension,usd,trials\ncompute,1,0\n", 2, "out of range"),
        ("dimension,amount\ncompute,1\n", 1, "no column of a bill"),
        ("usd\n1\n", 1, "is missing"),
        ("dimension,usd\n", 1, "holds no row"),
        ("dimension;usd\ncompute;1\n", 1, "commas"),
        ("dimension,usd\ncompute,1,2\n", 2, "3 cells"),
    ],
)
def test_a_bad_bill_is_refused_with_its_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    with pytest.raises(InputError) as caught:
        rows(tmp_path, text)
    said = [one for one in caught.value.complaints if word in str(one)]
    assert said, str(caught.value)
    assert said[0].line == line
    assert said[0].fix


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("item,usd\npool tran,1\n", 2, "write pool train"),
        ("dimension,item,usd\ncompute,tuning trials,1\n", 2, "trials"),
        ("dimension,usd,hours\nstorage,1,3\n", 2, "is given for storage"),
        ("dimension,item,usd,price\noperations,setup,1,3\n", 2, "is given for setup"),
        ("dimension,item,usd\n,setup,1\noperations,setup,2\n", 3, "twice"),
    ],
)
def test_what_cannot_be_split_is_refused_with_its_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    with pytest.raises(InputError) as caught:
        review(planned(), rows(tmp_path, text))
    assert word in str(caught.value)
    assert caught.value.complaints[0].line == line


def test_machines_without_gpus_have_no_gpu_hours(tmp_path: Path) -> None:
    tree = planned().model_dump(mode="json", by_alias=True)
    tree["pools"][1] |= {"gpus": 0, "gpus_per_node": 0, "gpu": None}
    with pytest.raises(InputError, match="without GPUs"):
        review(Plan.model_validate(tree), rows(tmp_path, "item,usd,gpu_hours\npool rollout,1,3\n"))


@pytest.mark.parametrize("width", [60, 110])
def test_a_review_reads_as_kept(tmp_path: Path, width: int) -> None:
    found = review(planned(), rows(tmp_path, BILL.replace("network,,5,,,\n", "")), ("plan.json", "bill.csv"))
    check_golden(f"review_{width}.txt", to_text(*review_report(found), width=width))


def test_a_bill_as_planned_says_so(tmp_path: Path) -> None:
    text = "dimension,usd\ncompute,675\nstorage,50\nnetwork,5\noperations,45\n"
    found = review(planned(), rows(tmp_path, text))
    assert found.largest is None
    assert "came to what plan said: $775.00" in to_text(*review_report(found), width=80)


def test_command_on_a_solved_plan(rlopt_run: Run, root: Path, tmp_path: Path) -> None:
    plan, bill = tmp_path / "plan.json", tmp_path / "bill.csv"
    assert rlopt_run("solve", root / "examples/quickstart.yaml", "--set", "job.trials=2", "-o", plan).code == 0
    cost = Plan.model_validate_json(plan.read_text(encoding="utf-8")).cost
    assert cost is not None
    bill.write_text("dimension,usd,trials\ncompute,90,3\nstorage,12,\n", encoding="utf-8")
    result = rlopt_run("review", plan, bill, "--json", "-o", tmp_path / "r.json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document == json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert document["schema"] == "rlopt.review/1"
    assert sum(document["parts"].values()) == pytest.approx(102.0 - cost.total_usd, abs=1e-6)
    assert document["lines"][0]["machines"]["planned_trials"] == pytest.approx(2.0)
    assert "Next time: " in rlopt_run("review", plan, bill).out


def test_a_plan_without_a_bill_is_refused(rlopt_run: Run, tmp_path: Path) -> None:
    plan, bill = tmp_path / "plan.json", tmp_path / "bill.csv"
    plan.write_text(plans.infeasible().model_dump_json(by_alias=True), encoding="utf-8")
    bill.write_text("dimension,usd\ncompute,1\n", encoding="utf-8")
    result = rlopt_run("review", plan, bill)
    assert (result.code, result.out) == (2, "")
    assert "the plan has no bill" in result.err


def test_a_bill_that_states_everything_is_not_asked_to_state_more(tmp_path: Path) -> None:
    """The advice names the row that nothing explains; where machines state less, it asks for that first."""
    full = "dimension,item,usd,trials,hours,price\ncompute,,620,2,{hours},{price}\noperations,setup,900,,,\n"
    stated = review(planned(), rows(tmp_path, full.format(hours=22, price=30)))
    bare = review(planned(), rows(tmp_path, full.format(hours="", price="")))
    assert (stated.largest, bare.largest) == ("rest", "rest")
    text = " ".join(to_text(*review_report(stated), width=100).split())
    assert "Next time: see what operations: setup holds (+$855.00)" in text
    assert "Next time: state trials, hours" in to_text(*review_report(bare), width=100)


def test_the_sentence_and_the_table_say_the_same_cents(tmp_path: Path) -> None:
    text = "dimension,item,usd,trials,hours,price\ncompute,,620.004,2,22,30\noperations,setup,900.004,,,\n"
    found = review(planned(), rows(tmp_path, text))
    lines = to_text(*review_report(found), width=200).splitlines()
    rest = next(line.split()[1] for line in lines if line.strip().startswith("rest"))
    assert f"most by rest ({rest})" in lines[0]
