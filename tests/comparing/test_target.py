"""What a point of the job's target costs: stated, divided by hand, said where a signer looks, and audited."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.plan import Frontier
from rlopt.assembly.audit import faults
from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived
from rlopt.reports.csv_frontier import frontier_csv
from rlopt.reports.layout import to_text
from rlopt.reports.text.plan import plan_report
from rlopt.request import Request
from rlopt.studies.cheapest import cheapest
from tests.reports import plans
from tests.studies.small import asked

FACTS = load_catalog()

RISES = {"metric": "success_rate", "from": 55, "to": 80}


def _with(target: object, **job: object) -> Request:
    return asked("grpo", job={"target": target, **job})


def test_the_whole_bill_over_the_points_whichever_way() -> None:
    plan = cheapest(api.problem_of(_with(RISES)))
    assert plan.cost is not None
    assert plan.per_point is not None
    assert (plan.per_point.metric, plan.per_point.points) == ("success_rate", 25.0)
    assert plan.per_point.usd_per_point == pytest.approx(plan.cost.total_usd / 25.0, rel=1e-12)
    falls = cheapest(api.problem_of(_with({"metric": "loss", "from": 3, "to": 2.5})))
    assert falls.per_point is not None
    assert falls.per_point.usd_per_point == pytest.approx(plan.cost.total_usd / 0.5, rel=1e-12)


def test_trials_are_in_it_and_nothing_else_changes() -> None:
    plain = cheapest(api.problem_of(asked("grpo", job={"trials": 3})))
    aimed = cheapest(api.problem_of(_with(RISES, trials=3)))
    once = cheapest(api.problem_of(_with(RISES)))
    assert plain.per_point is None
    assert aimed.per_point is not None
    assert once.per_point is not None
    assert aimed.cost == plain.cost
    assert aimed.decisions == plain.decisions
    assert aimed.per_point.usd_per_point > once.per_point.usd_per_point * 2.0


def test_the_audit_divides_again() -> None:
    problem = api.problem_of(_with(RISES))
    plan = cheapest(problem)
    assert plan.per_point is not None
    assert faults(plan, problem) == []
    wrong = plan.per_point.model_copy(update={"usd_per_point": plan.per_point.usd_per_point * 1.01})
    for other in (wrong, None):
        found = faults(plan.model_copy(update={"per_point": other}), problem)
        assert len(found) == 1
        assert "a point of the target" in found[0]


def test_where_nothing_is_possible_nothing_costs_anything() -> None:
    request = asked("grpo", job={"target": RISES}, limits={"deadline": "1min"})
    assert cheapest(api.problem_of(request)).per_point is None


def test_report_and_csv_say_it() -> None:
    each = {"metric": "success_rate", "points": 25.0, "usd_per_point": 24.496}
    plan = plans.optimal().model_validate({**plans.optimal().model_dump(by_alias=True), "per_point": each})
    text = to_text(*plan_report(plan), width=100)
    assert "Each point of success_rate costs $24.50: the whole bill over 25 points." in text
    assert "Each point" not in to_text(*plan_report(plans.optimal()), width=100)
    rows = list(csv.DictReader(io.StringIO(frontier_csv(Frontier(points=[plan, plans.optimal()])))))
    assert [row["usd_per_point"] for row in rows] == ["24.496", ""]


def test_a_check_says_what_a_point_is() -> None:
    said = [text for text in derived(_with(RISES), FACTS) if text.startswith("target: ")]
    assert said == ["target: success_rate from 55 to 80, 25 points; the plan says what one costs, all trials included"]
    share = next(
        text for text in derived(_with({**RISES, "from": 0.5, "to": 0.75}), FACTS) if text.startswith("target: ")
    )
    assert "0.25 points; a point is 1 of the metric as written" in share
    assert not any(text.startswith("target: ") for text in derived(asked("grpo"), FACTS))


@pytest.mark.parametrize(
    ("target", "key", "word"),
    [
        ("{metric: loss, from: 3, to: 3}", "job.target", "from 3.0 to 3.0"),
        ("{metric: loss, from: .nan, to: 3}", "job.target.from", "not a finite number"),
        ("{metric: loss, from: 3, to: .inf}", "job.target.to", "not a finite number"),
        ("{metric: loss, from: 55%, to: 3}", "job.target.from", "not a number"),
        ("{metric: '', from: 1, to: 3}", "job.target.metric", "empty"),
        ("{metric: loss, to: 3}", "job.target.from", "is missing"),
        ("{metric: loss, form: 1, to: 3}", "job.target.form", "unknown key"),
        ("0.8", "job.target", "0.8"),
    ],
)
def test_what_is_no_target_is_refused_with_its_line(
    tmp_path: Path, root: Path, target: str, key: str, word: str
) -> None:
    text = (root / "examples/quickstart.yaml").read_text(encoding="utf-8")
    path = tmp_path / "request.yaml"
    path.write_text(text.replace("  name: quickstart\n", f"  name: quickstart\n  target: {target}\n"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        api.load(path)
    found = {one.key: one for one in caught.value.complaints}
    assert key in found, str(caught.value)
    assert word in str(found[key])
    assert found[key].line == 7
    assert found[key].fix
