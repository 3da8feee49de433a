"""A user's own timings find the constants that made them, within bounds, and the band that is left is honest."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting.user_fit import Timing, parameters_of, refit, spreads, timings_of, value_at
from rlopt.fitting.user_run import UserRun

SHIPPED = load_catalog().calibration
MODEL = ModelShape.of(load_catalog().models["DeepSeek-R1-Distill-Qwen-7B"])


def _run(framework: str = "nemo-rl", placement: str = "colocated", **changed: object) -> UserRun:
    base = replace(SHIPPED, rl={**SHIPPED.rl, "framework": framework})
    run = UserRun(base, placement, 110.0, 70.0, 115.0, 0.0, 0.0, False, MODEL, "H100-SXM", "H100-SXM",
                 ("Hopper", "Hopper"), "fsdp")  # fmt: skip
    whole = replace(run, step=110.0 + 70.0 + 115.0 + 24.0)
    return replace(whole, **changed)  # type: ignore[arg-type]


def _logged(run: UserRun, truth: Calibration, sigma: float = 0.004) -> list[Timing]:
    told = run.predicted(truth)
    return timings_of({name: (seconds, sigma) for name, seconds in told.items() if name in
                       ("step", "generate", "score", "update", "hand over weights")}, run, whole=True)  # fmt: skip


@settings(max_examples=12)
@given(
    train=st.floats(0.6, 2.0),
    sample=st.floats(0.6, 2.0),
    step_s=st.floats(2.0, 30.0),
    framework=st.sampled_from(["nemo-rl", "verl-fsdp", "verl-megatron", "openrlhf"]),
    placement=st.sampled_from(["colocated", "disaggregated"]),
)
def test_the_stages_of_any_truth_are_found_again(
    train: float, sample: float, step_s: float, framework: str, placement: str
) -> None:
    run = _run(framework, placement)
    frame = ("rl", "frameworks", framework)
    now = {name: value_at(run.base, (*frame, name)) for name in ("train", "sample")}
    truth = run.base.replaced(
        {
            (*frame, "train"): now["train"] * train,
            (*frame, "sample"): now["sample"] * sample,
            (*frame, "step_s"): step_s,
        }
    )
    found = refit([(run, _logged(run, truth))])
    told, meant = run.predicted(found.calibration), run.predicted(truth)
    for stage in ("generate", "update", "score", "step"):
        assert told[stage] == pytest.approx(meant[stage], rel=0.06), stage
    assert not any(path[0] == "memory" for path in found.moved)


def test_what_timings_do_not_show_stays_where_it_was() -> None:
    run = _run("openrlhf")
    slower = run.base.replaced({("rl", "frameworks", "openrlhf", "train"): 1.9})
    step = run.predicted(slower)["step"]
    found = refit([(run, timings_of({"update": (run.predicted(slower)["update"], 0.01)}, run, whole=False))])
    names = {path[-1] for path in found.stayed}
    assert {"sample", "step_s", "switch_s", "fixed_s", "gb_s"} <= names
    assert all(found.calibration.at(path) == value_at(run.base, path) for path in found.stayed)
    assert "training" in found.own
    assert "H100-SXM" not in found.own["generation"]
    alone = refit([(run, timings_of({"step": (step, 0.01)}, run, whole=True))])
    assert run.predicted(alone.calibration)["step"] == pytest.approx(step, rel=0.03)


def test_a_sum_of_timers_tells_nothing_of_the_rest_of_a_step() -> None:
    run = _run("openrlhf", "disaggregated")
    stages = {"generate": (100.0, 0.01), "score": (60.0, 0.01), "update": (90.0, 0.01), "step": (250.0, 0.01)}
    assert {one.stage for one in timings_of(stages, run, whole=False)} == {"generate", "score", "update"}
    assert {one.stage for one in timings_of({**stages, "step": (262.0, 0.01)}, run, whole=True)} == {
        "generate", "score", "update", "overhead",
    }  # fmt: skip


def test_beside_training_sampling_is_not_what_its_timer_shows() -> None:
    run = _run("verl-async", "async")
    stages = {"generate": (3.0, 0.01), "update": (90.0, 0.01), "step": (200.0, 0.01)}
    assert {one.stage for one in timings_of(stages, run, whole=True)} == {"update", "step"}


def test_absurd_timings_stop_at_physical_bounds() -> None:
    run = _run()
    stages = {"generate": (0.001, 0.01), "score": (9.0 * run.score, 0.01), "update": (1.0 * run.update, 0.01)}
    found = refit([(run, timings_of(stages, run, whole=False))])
    assert {one.stage for one in found.refused} == {"generate"}
    assert found.at_bound == (("rl", "score_train"),)
    for one in parameters_of(run):
        assert one.low <= found.calibration.at(one.path) <= one.high


def test_a_log_of_a_known_stack_speaks_of_the_gpus_that_ran_alone() -> None:
    for framework, known in (("verl-fsdp", True), ("openrlhf", False)):
        run = _run(framework)
        slower = run.base.replaced({("rl", "generation_train", "Hopper"): 1.3})
        found = refit([(run, [Timing("update", run.predicted(slower)["update"], 0.004)])])
        assert (("rl", "frameworks", framework, "train") in found.moved) is not known
        assert ("others" in found.own["training"]) is not known


def test_a_job_that_only_trains_moves_its_gpu() -> None:
    run = replace(_run(), placement="", sample=0.0, score=0.0, step=112.0)
    found = refit([(run, timings_of({"step": (150.0, 0.005), "update": (148.0, 0.01)}, run, whole=True))])
    assert set(found.moved) == {("training", "device_factor", "H100-SXM")}
    assert run.predicted(found.calibration)["step"] == pytest.approx(150.0, rel=0.03)
    assert found.own["training"]["H100-SXM"] < found.before["training"]


def test_more_steps_of_one_run_never_make_the_band_narrower_than_configurations_differ() -> None:
    run = _run("openrlhf", "disaggregated")
    sure = refit([(run, _logged(run, run.base, 1e-6))])
    many = refit([(run, _logged(run, run.base, 1e-6))] * 20)
    known = spreads(run)[1]
    least = math.sqrt(2.0) * float(SHIPPED.bands["rl"]["same_setup"]["typical"]) * known
    for found in (sure, many):
        assert least * 0.999 <= found.own["training"]["H100-SXM"] < found.before["training"]


@pytest.mark.parametrize("framework", ["openrlhf", "nemo-rl"])
def test_nine_new_configurations_in_ten_lie_within_the_band(framework: str) -> None:
    """Truths drawn as the bands say: of the stack, of the setup, and of each configuration by itself."""
    draw, run, hits, trials = np.random.default_rng(5), _run(framework, "disaggregated"), 0, 200
    planned, known = spreads(run)
    share = float(SHIPPED.bands["rl"]["same_setup"]["typical"])
    for _ in range(trials):
        stack = math.sqrt(planned**2 - known**2) * draw.standard_normal()
        setup = math.sqrt(1.0 - share**2) * known * draw.standard_normal()
        logged, planned_next = (stack + setup + share * known * draw.standard_normal(2)).tolist()
        seconds = run.update * math.exp(logged + 0.03 * draw.standard_normal())
        found = refit([(run, [Timing("update", seconds, 0.005)])])
        predicted = run.predicted(found.calibration)["update"]
        sigma = found.own["training"].get("H100-SXM", found.before["training"])
        hits += abs(math.log(predicted / (run.update * math.exp(planned_next)))) < 1.645 * sigma
    assert 0.84 <= hits / trials <= 0.96
