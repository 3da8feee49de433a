"""Teachers that are trained first: a phase of its own, its whole bill carried by the job, chosen where it pays."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.costs import bill
from rlopt.errors import InputError, NotSupportedError
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived
from rlopt.request import ModelOption
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.teacher_training import training_request
from tests.studies.small import LARGE, SMALL, asked, chosen, solved, usd

FACTS = load_catalog()

SFT: dict[str, Any] = {"prompts_per_step": 32, "steps": 60, "prompt_tokens": {"mean": 100, "max": 200}}


def trained(name: str = LARGE, **how: Any) -> dict[str, Any]:
    """An entry of the choice whose teacher is made first."""
    return {"model": name, "teacher_training": {**SFT, **how}}


def phase_usd(entry: dict[str, Any], **sections: Any) -> float:
    """The phase's bill by listing every plan of it."""
    request = asked("opd", {"teacher": entry}, **sections)
    teacher = request.job.models.teacher
    assert teacher is not None
    option: ModelOption = teacher.options[0]
    assert option.teacher_training is not None
    best = exhaustive(problem_of(training_request(request, option, option.teacher_training)))
    assert best is not None
    return best.usd


def line(plan: Plan) -> float:
    """What the bill says of the phase."""
    assert plan.cost is not None
    return sum(one.usd for one in plan.cost.lines if one.item == "teacher training")


def test_the_bill_is_that_of_the_job_and_that_of_the_cheapest_phase() -> None:
    plain, plan = solved(asked("opd", {"teacher": LARGE})), solved(asked("opd", {"teacher": trained()}))
    phase = phase_usd(trained())
    assert phase > 1.0
    assert line(plan) == pytest.approx(phase, rel=1e-9)
    assert usd(plan) == pytest.approx(usd(plain) + phase, abs=0.005)
    assert plan.time == plain.time
    (used,) = plan.phases
    assert used.model == LARGE
    assert used.usd == pytest.approx(phase)
    assert any("trained before the job" in text for text in plan.warnings)


def test_by_hand_a_phase_costs_its_pools_for_its_hours() -> None:
    """A p5.4xlarge and the control node at AWS's list prices of us-east-1, for the hours without failures."""
    plan = solved(asked("opd", {"teacher": trained(SMALL)}))
    (used,) = plan.phases
    request = asked("opd", {"teacher": trained(SMALL)})
    teacher = request.job.models.teacher
    assert teacher is not None
    option = teacher.options[0]
    assert option.teacher_training is not None
    own = api.solve(training_request(request, option, option.teacher_training), short_frontier=False)
    assert own.cost is not None
    assert own.time is not None
    assert [pool.instance_type for pool in own.pools] == ["p5.4xlarge", "m8g.2xlarge"]
    hours = 20 / 60 + 60 * own.time.step_seconds / 3600 + own.time.saving_hours
    pools = (6.88 + 0.35904) * hours
    rest = sum(part.usd for part in own.cost.lines if not part.item.startswith("pool "))
    assert used.usd == pytest.approx(pools + rest, rel=1e-6)
    assert own.time.steps == 60


@pytest.mark.parametrize("runs", [1, 4])
def test_runs_that_share_a_teacher_carry_a_part_each(runs: int) -> None:
    plan = solved(asked("opd", {"teacher": trained(shared_by=runs)}))
    assert line(plan) == pytest.approx(phase_usd(trained()) / runs)


def test_a_trained_teacher_is_chosen_where_the_steps_it_saves_pay_for_it() -> None:
    cheap = trained(SMALL, steps=10)
    for steps, best in ((1, "trained"), (99, "ready")):
        models = [{"name": "trained", **cheap, "convergence": {1: steps}}, {"name": "ready", "model": SMALL}]
        plan = solved(asked("opd", {"teacher": models}))
        assert chosen(plan) == {"teacher": best}
        assert bool(plan.phases) == (best == "trained") == bool(line(plan))


def test_more_tokens_against_forgetting_cost_more() -> None:
    least, more = (phase_usd(trained(remedial_share=share)) for share in (0.0, 0.5))
    assert more > least


def test_a_budget_counts_the_phase_and_a_deadline_does_not() -> None:
    free = solved(asked("opd", {"teacher": trained()}))
    assert free.time is not None
    tight = asked("opd", {"teacher": trained()}, limits={"deadline": f"{free.time.confident_hours + 0.001}h"})
    assert usd(solved(tight)) == pytest.approx(usd(free))
    short = asked("opd", {"teacher": trained()}, limits={"budget": f"{usd(free) - 1} USD"})
    assert solved(short).status == "infeasible"
    enough = asked("opd", {"teacher": trained()}, limits={"budget": f"{usd(free) + 0.01} USD"})
    assert usd(solved(enough)) == pytest.approx(usd(free))


def test_a_teacher_that_cannot_be_made_in_time_is_not_chosen() -> None:
    late = {**trained(deadline="1min"), "convergence": {1: 1}}
    plan = solved(asked("opd", {"teacher": [late, LARGE.replace("7B", "3B")]}))
    assert chosen(plan) == {"teacher": "Qwen/Qwen2.5-3B-Instruct"}
    assert any("cannot be trained" in text for text in plan.warnings)
    with pytest.raises(NotSupportedError, match="cannot be trained"):
        problem_of(asked("opd", {"teacher": late}))


def test_the_bill_is_the_same_when_it_is_read_again() -> None:
    request = asked("opd", {"teacher": trained()})
    plan = api.solve(request)
    assert plan.cost is not None
    assert [one.usd for one in bill(plan, problem_of(request))] == [one.usd for one in plan.cost.lines]
    assert Plan.model_validate(plan.document()) == plan


def test_the_check_says_what_is_trained_first() -> None:
    text = "\n".join(derived(asked("opd", {"teacher": [trained(shared_by=3), SMALL]}), FACTS))
    assert "trained first by sft: 60 steps of 32 sequences, shared by 3 runs" in text
    epochs = {"prompts_per_step": 32, "epochs": 2, "dataset_samples": 800, "remedial_share": 0.1}
    text = "\n".join(derived(asked("opd", {"teacher": {"model": LARGE, "teacher_training": epochs}}), FACTS))
    assert "50 steps of 32 sequences, 10% more tokens against forgetting" in text


@pytest.mark.parametrize(
    ("how", "key", "text"),
    [
        ({"prompts_per_step": 8}, "teacher_training", "how long it is"),
        ({"prompts_per_step": 8, "steps": 5, "epochs": 1, "dataset_samples": 80}, "teacher_training", "in one way"),
        ({"prompts_per_step": 8, "epochs": 1}, "teacher_training", "dataset_samples"),
        ({"steps": 5}, "teacher_training.prompts_per_step", "missing"),
        ({**SFT, "algorithm": "grpo"}, "teacher_training.algorithm", "sft"),
        ({**SFT, "shared_by": 0}, "teacher_training.shared_by", "1"),
        ({**SFT, "step": 3}, "teacher_training.step", "unknown key"),
    ],
)
def test_what_the_phase_needs_is_asked_for(how: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        asked("opd", {"teacher": [{"model": LARGE, "teacher_training": how}]})
    assert any(complaint.key.endswith(key) for complaint in caught.value.complaints), caught.value
    assert text in str(caught.value)


def test_none_is_no_training() -> None:
    plain = asked("opd", {"teacher": [{"model": LARGE, "teacher_training": "none"}]})
    assert problem_of(plain).phases == ()


def test_a_script_that_gives_machines_back_is_set_up_by_the_job_alone() -> None:
    from rlopt.request import ModelOption, Request, TeacherTraining
    from rlopt.studies.teacher_training import training_request
    from tests.studies.small import asked

    how = {"algorithm": "sft", "prompts_per_step": 8, "steps": 10}
    idle = {"automatic": {"within": "1min", "setup_hours": 2}}
    request: Request = asked("opd", costs={"currency": "USD", "engineer_hour": "90 USD", "idle": idle})
    option = ModelOption.model_validate({"model": request.job.models.policy})
    found = training_request(request, option, TeacherTraining.model_validate(how))
    assert request.costs.idle.automatic is not None
    assert found.costs.idle.automatic is None
    assert found.costs.engineer_hour == request.costs.engineer_hour
