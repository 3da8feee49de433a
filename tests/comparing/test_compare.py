"""Plans in columns: money adds up, work is named, and the command ends as its plans do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.comparison import Comparison
from rlopt.answers.plan import Plan
from rlopt.reports.layout import to_text
from rlopt.reports.text.compare import comparison_report
from rlopt.studies.compare import Entry, compare
from tests.cli.conftest import Result
from tests.reports import plans
from tests.reports.golden import check_golden

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def example(root: Path) -> Comparison:
    """The example of five algorithms, two of them."""
    return api.compare([root / "examples/compare-algorithms.yaml"], ["grpo", "opd", "sft"])


def _faster() -> Plan:
    return plans.faster().model_copy(update={"status": "optimal"})


def test_each_column_is_the_plan_of_that_algorithm(example: Comparison, root: Path) -> None:
    own = api.solve(api.load(root / "examples/compare-algorithms.yaml"), short_frontier=False)
    assert own.cost is not None
    grpo, opd, sft = example.contenders
    assert (grpo.total_usd, grpo.per_point) == (own.cost.total_usd, own.per_point)
    assert grpo.usd_per_step == pytest.approx(own.cost.total_usd / 200)
    for one in example.contenders:
        assert math.fsum(one.by_dimension.values()) == pytest.approx(one.total_usd, abs=1e-9)
        assert one.per_point is not None
        assert one.per_point.usd_per_point == pytest.approx((one.total_usd or 0.0) / 15.0)
    assert (grpo.rework_share, opd.rework_share, sft.rework_share) == (0.0, 0.0, 0.3)


def test_the_structure_of_the_bill_is_who_generates_and_who_scores(example: Comparison) -> None:
    work = {one.name: {(part.stage, part.model) for part in one.work} for one in example.contenders}
    assert ("generate", "policy") in work["grpo"] & work["opd"]
    assert ("forward", "reference") in work["grpo"] - work["opd"]
    assert ("forward", "teacher") in work["opd"] - work["grpo"]
    assert {stage for stage, _ in work["sft"]} == {"update"}


def test_hours_of_work_are_seconds_times_steps() -> None:
    plan = plans.optimal()
    one = compare([Entry("a", plan)]).contenders[0]
    assert [(part.stage, part.hours) for part in one.work] == [
        ("generate", pytest.approx(61.2 * 600 / 3600)),
        ("forward", pytest.approx(9.8 * 600 / 3600)),
        ("update", pytest.approx(25.0 * 600 / 3600)),
    ]
    assert one.usd_per_step == pytest.approx(612.4 / 600)


def test_what_is_done_before_the_job_is_work_too() -> None:
    phase = {"name": "preference pairs", "model": None, "usd": 20.0, "runs": 2, "machines": ""}
    hours = {"expected_hours": 5.5, "confident_hours": 6.0}
    tree = plans.optimal().model_dump(mode="json", by_alias=True) | {"phases": [phase | hours]}
    one = compare([Entry("a", Plan.model_validate(tree))]).contenders[0]
    assert (one.work[0].stage, one.work[0].hours) == ("preference pairs", 5.5)
    assert len(one.work) == 4
    text = to_text(*comparison_report(compare([Entry("a", Plan.model_validate(tree))])), width=100)
    assert text.index("preference pairs") < text.index("generate: policy")


def test_differences_add_up_against_the_cheapest(example: Comparison) -> None:
    totals = {one.name: one.total_usd or 0.0 for one in example.contenders}
    hours = {one.name: one.confident_hours or 0.0 for one in example.contenders}
    work = {one.name: {(part.stage, part.model): part.hours for part in one.work} for one in example.contenders}
    best = example.cheapest or ""
    assert totals[best] == min(totals.values())
    assert {one.name for one in example.apart} == set(totals) - {best}
    for one in example.apart:
        assert one.more_usd == pytest.approx(totals[one.name] - totals[best], abs=1e-9)
        assert math.fsum(one.by_dimension.values()) == pytest.approx(one.more_usd, abs=1e-9)
        assert one.more_hours == pytest.approx(hours[one.name] - hours[best])
        for part in one.by_work:
            key = (part.stage, part.model)
            assert part.hours == pytest.approx(work[one.name].get(key, 0.0) - work[best].get(key, 0.0))


def test_most_of_a_difference_is_more_than_half_of_it(example: Comparison) -> None:
    text = " ".join(to_text(*comparison_report(example), width=100).split())
    apart = {one.name: one for one in example.apart}
    assert apart["grpo"].by_dimension["compute"] > apart["grpo"].more_usd / 2.0
    assert "Most of it is compute" in text
    assert max(apart["sft"].by_dimension.values()) < apart["sft"].more_usd / 2.0
    assert "What differs most is network" in text


@pytest.mark.parametrize("width", [60, 100])
def test_a_comparison_reads_as_kept(width: int) -> None:
    found = compare(
        [Entry("own.yaml", plans.optimal()), Entry("fast.yaml", _faster()), Entry("none", plans.infeasible())]
    )
    check_golden(f"compare_{width}.txt", to_text(*comparison_report(found), width=width))


def test_without_any_plan_there_is_nothing_to_compare() -> None:
    found = compare([Entry("a", plans.infeasible()), Entry("b", plans.infeasible())])
    assert (found.cheapest, found.apart) == (None, [])
    text = to_text(*comparison_report(found), width=80)
    assert "nothing to compare" in text
    assert "rlopt solve says what would help" in " ".join(text.split())


def test_command_on_an_example(rlopt_run: Run, root: Path, tmp_path: Path, example: Comparison) -> None:
    path, saved = root / "examples/compare-algorithms.yaml", tmp_path / "c.json"
    result = rlopt_run("compare", path, "--algorithms", "grpo,opd, sft", "--json", "-o", saved)
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document == json.loads(saved.read_text(encoding="utf-8"))
    assert document["schema"] == "rlopt.compare/1"
    assert [one["total_usd"] for one in document["contenders"]] == [one.total_usd for one in example.contenders]


def test_command_on_saved_plans(rlopt_run: Run, tmp_path: Path) -> None:
    named = {"a.json": plans.optimal(), "b.json": _faster(), "none.json": plans.infeasible()}
    for name, plan in named.items():
        (tmp_path / name).write_text(plan.model_dump_json(by_alias=True), encoding="utf-8")
    a, b, none = (tmp_path / name for name in named)
    result = rlopt_run("compare", a, b)
    assert (result.code, result.err) == (0, "")
    assert "a.json costs least" in result.out
    assert rlopt_run("compare", a, none).code == 3
    (tmp_path / "x").mkdir()
    twin = tmp_path / "x" / "a.json"
    twin.write_bytes(b.read_bytes())
    names = [one["name"] for one in json.loads(rlopt_run("compare", a, twin, "--json").out)["contenders"]]
    assert names == [str(a), str(twin)]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--algorithms", "grpo"), "names nothing to compare"),
        (("--algorithms", "grpo,dap"), "no algorithm 'dap'"),
        (("--algorithms", "grpo,opd"), "compare.opd.job.steps"),
        ((), "names nothing to compare with"),
    ],
)
def test_bad_input_ends_with_2(rlopt_run: Run, root: Path, arguments: tuple[str, ...], word: str) -> None:
    result = rlopt_run("compare", root / "examples/quickstart.yaml", *arguments)
    assert (result.code, result.out) == (2, "")
    assert word in result.err


def test_several_files_take_no_changes(rlopt_run: Run, root: Path) -> None:
    files = (root / "examples/quickstart.yaml", root / "examples/sft-lora.yaml")
    assert rlopt_run("compare", *files, "--algorithms", "grpo,sft").code == 2
    assert rlopt_run("compare", *files, "--set", "job.steps=3").code == 2
