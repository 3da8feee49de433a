"""Constants from a user's own timings: the largest posterior of a few of them, and how sure the plan is then.

Prior: the shipped constants, as wide as the shipped error band of a step. A band is the error of a stack that was
never measured, which belongs to the constant of the framework, and all else, which belongs to the GPUs that ran:
errors of known stacks are not shared between GPU types (measurements/out_of_sample.csv: sigma within a source is as
large as over all). Likelihood: the stages that were timed, off by the spread of their steps and by what two runs of
one configuration differ. A constant moves where its posterior is narrower than its prior; the others stay.

The band afterwards is that of another configuration on the same GPUs. Constants that follow one configuration carry
its own error r σ along, and the next configuration brings one of its own: r² σ² (1 + 1 / m) after m configurations,
beside what is left of the constants; r is `same_setup` of the bands. Repeated steps and runs of one configuration
never make m larger than 1. Derivation and simulation: docs/calibration.md, tests/fitting/test_own_fit.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.arrays import Floats
from rlopt.estimates.bounds import bounds_of
from rlopt.estimates.loop.transfer import framework_cell
from rlopt.estimates.uncertainty import planned_sigma
from rlopt.fitting.fit import QUADRATIC_BELOW, Parameter, Study
from rlopt.fitting.user_posterior import at_bound, posterior, settled
from rlopt.fitting.user_run import GENERATE, HAND_OVER, OVERHEAD, REST, SCORE, STEP, UPDATE, UserRun
from rlopt.words import Placement

Path = tuple[str, ...]
MOST_OFF = 10.0
"""Factor beyond which a figure is of something else: another job, another machine, another unit."""
OVERHEAD_SD = 0.7
"""Prior log-sigma of the fixed seconds of a loop: that of `fitting.rl_sync`'s and of `fitting.rl`'s starts."""
EXPOSED_SD = 0.4


@dataclass(frozen=True, slots=True)
class Timing:
    """One stage as a log timed it: seconds and the log-sigma of that figure, run to run left out."""

    stage: str
    seconds: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """What timings made of the constants.

    ``moved`` from and to, ``stayed`` those in play that the timings say nothing of; ``own`` the bands by stage kind
    and GPU type; ``at_bound`` those that a physical bound holds.
    """

    calibration: Calibration
    moved: Mapping[Path, tuple[float, float]]
    stayed: tuple[Path, ...]
    at_bound: tuple[Path, ...]
    own: Mapping[str, Mapping[str, float]]
    before: Mapping[str, float]
    """Bands as shipped, by stage kind."""
    refused: tuple[Timing, ...] = ()
    """Timings that are off by more than `MOST_OFF`: not errors of constants."""


def parameters_of(run: UserRun) -> tuple[Parameter, ...]:
    """Constants that a log of this configuration may move, with priors as wide as the shipped band."""
    planned, known = spreads(run)
    planned_too, known_too = spreads(run, "generation")
    trains, samples = run.generations
    table: list[tuple[Path, float]] = [(("training", "device_factor", run.trains), known)]
    if run.loop:
        frame = ("rl", "frameworks", run.framework)
        transport = str(framework_cell(run.framework, _way(run), run.base))
        table = [
            ((*frame, "train"), math.sqrt(planned**2 - known**2)),
            (("rl", "generation_train", trains), known),
            (("rl", "score_train"), known),
            ((*frame, "sample"), math.sqrt(planned_too**2 - known_too**2)),
            (("rl", "generation_sample", samples), known_too),
            ((*frame, "step_s"), OVERHEAD_SD),
            (("rl", "transports", transport, "fixed_s"), OVERHEAD_SD),
        ]
        if not any(run.link):  # a slower link sets the pace, whatever the transport reaches
            table.append((("rl", "transports", transport, "gb_s"), OVERHEAD_SD))
        if run.placement == Placement.COLOCATED:
            table.append(((*frame, "switch_s"), OVERHEAD_SD))
        if run.placement == Placement.ASYNC:
            table.append((("rl", "exposed_share"), EXPOSED_SD))
    return tuple(one for path, sd in table if sd > 0.0 and (one := _parameter(run.base, path, sd)) is not None)


def _way(run: UserRun) -> str:
    return "colocated" if run.placement == Placement.COLOCATED else "apart"


def _parameter(base: Calibration, path: Path, sd: float) -> Parameter | None:
    """The constant at a path; None where it is 0, which no factor moves."""
    now = value_at(base, path)
    low, high = bounds_of(path, now)
    low = max(low, 1e-6)
    return Parameter(path, now, min(low, now * 0.999), max(high, now * 1.001), sd) if now > 0.0 else None


def value_at(base: Calibration, path: Path) -> float:
    """A constant, also where a framework's or a stack's row takes it from the row it is like."""
    if path[:2] == ("rl", "frameworks"):
        return float(framework_cell(path[2], path[3], base))
    if path[:2] == ("training", "device_factor"):
        return float(base.training["device_factor"].get(path[2], 1.0))
    if path[:2] == ("training", "engine_factor"):
        return float(base.by_engine("training", "engine_factor", np.array([base.engine(path[2])]))[0])
    return base.at(path)


def spreads(run: UserRun, kind: str = "training") -> tuple[float, float]:
    """Log-sigma that plans count with for a kind of stage, and the one of a known stack, which is no larger."""
    device = run.samples if kind == "generation" else run.trains
    planned, known = (planned_sigma(kind, device, run.moe, run.base, run.loop, name) for name in (run.framework, ""))
    return planned, min(planned, known)


def refit(runs: Sequence[tuple[UserRun, Sequence[Timing]]]) -> Fitted:
    """Fit the constants of one configuration on the timings of one or more of its runs."""
    first = runs[0][0]
    expected = first.predicted(first.base)
    believed = [(run, [one for one in told if not _absurd(one, expected)]) for run, told in runs]
    refused = tuple(one for _, told in runs for one in told if _absurd(one, expected))
    every = parameters_of(first)
    study = _study(believed, every)
    found, kept, stayed = settled(study, first.base)
    moved = {one.path: (one.start, found.at(one.path)) for one in kept}
    bound = tuple(one.path for one in kept if at_bound(one, found.at(one.path)))
    before, own = _bands(first, every, posterior(study, found))
    return Fitted(found, moved, stayed, bound, own, before, refused)


def _absurd(one: Timing, expected: Mapping[str, float]) -> bool:
    """Whether a figure is so far off that something else than constants is wrong."""
    return not one.seconds > 0.0 or abs(math.log(one.seconds / expected[one.stage])) > math.log(MOST_OFF)


def _study(runs: Sequence[tuple[UserRun, Sequence[Timing]]], parameters: Sequence[Parameter]) -> Study:
    rows = [(run, timing) for run, timings in runs for timing in timings]
    between = float(runs[0][0].base.bands["same_configuration"])
    sigma = np.array([math.hypot(timing.sigma, between) for _, timing in rows])

    def predict(calibration: Calibration) -> Floats:
        return np.array([run.predicted(calibration)[timing.stage] for run, timing in rows])

    return Study(
        kind=runs[0][0].kind,
        ids=tuple(f"{place}/{timing.stage}" for place, (_, timing) in enumerate(rows)),
        measured=np.array([timing.seconds for _, timing in rows]),
        labels={},
        weights=(QUADRATIC_BELOW / sigma) ** 2,
        parameters=tuple(parameters),
        predict=predict,
    )


def _bands(
    run: UserRun, every: Sequence[Parameter], covariance: Floats
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Bands before, and those of the user's own afterwards: never wider than shipped."""
    share = float(run.base.bands[run.kind]["same_setup"]["typical"])
    kinds: dict[str, tuple[str, tuple[str, ...]]] = {
        "training": (run.trains, ("train", "generation_train", "engine_factor", "device_factor"))
    }
    if run.loop:
        kinds["generation"] = (run.samples, ("sample", "generation_sample"))
    before, own = dict[str, float](), dict[str, dict[str, float]]()
    for kind, (device, names) in kinds.items():
        slope = np.array([float(bool(set(names) & set(one.path))) for one in every])
        before[kind], known = spreads(run, kind)
        after = math.sqrt(2.0 * (share * known) ** 2 + float(slope @ covariance @ slope))
        own[kind] = {device: float(f"{after:.4g}")} if after < before[kind] else {}
        if run.loop:
            frame = next((i for i, one in enumerate(every) if one.path[3:] == (names[0],)), None)
            if frame is not None:
                own[kind]["others"] = float(f"{math.sqrt(covariance[frame, frame]):.4g}")
    return before, own


def timings_of(stages: Mapping[str, tuple[float, float]], run: UserRun, whole: bool) -> list[Timing]:
    """What of a log's middles (seconds, log-sigma) tells of constants.

    A step that is timed with all of its stages tells the rest of it: its seconds are what is left, as sure as all of
    them together. Where stages are missing the whole step tells instead; a sum of timers tells nothing more than its
    terms.
    """
    step, expected = stages.get(STEP), run.predicted(run.base)
    if not run.loop:
        return [Timing(STEP, *step)] if step is not None and whole else []
    known = {name: told for name, told in stages.items() if name != STEP and expected.get(name, 0.0) > 0.0}
    if run.placement == Placement.ASYNC:
        known.pop(GENERATE, None)
    timings = [Timing(name, *told) for name, told in known.items()]
    if step is None or not whole:
        return timings
    needed = {name for name in (GENERATE, SCORE, UPDATE) if expected[name] > 0.0}
    if run.placement == Placement.ASYNC or not needed <= set(known):
        return [*timings, Timing(STEP, *step)]
    inside = [known[name] for name in {*needed, *({HAND_OVER} & set(known))}]
    left = step[0] - sum(seconds for seconds, _ in inside)
    if left <= 0.0:
        return timings
    spread = math.sqrt(sum((seconds * sigma) ** 2 for seconds, sigma in (step, *inside)))
    return [*timings, Timing(REST if HAND_OVER in known else OVERHEAD, left, spread / left)]
