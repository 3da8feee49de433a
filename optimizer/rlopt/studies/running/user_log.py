"""Logs of one configuration against what is predicted for it: the same lengths, the same samples, stage by stage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rlopt.answers.configuration import Configuration
from rlopt.answers.plan import FoundPlan, LayoutChoice
from rlopt.errors import InputError
from rlopt.estimates import Calibration, Layout, ModelShape
from rlopt.estimates.codes import PLANNED_ENGINES
from rlopt.estimates.roles import POLICY, moved_params, role_training
from rlopt.estimates.training.states import training_engine
from rlopt.fitting.user_fit import Fitted, refit, timings_of
from rlopt.fitting.user_run import UserRun
from rlopt.launchers.logs.contract import GENERATE
from rlopt.launchers.logs.log import Log
from rlopt.launchers.logs.steady_state import SteadyState
from rlopt.measured.loop.defaults import framework_of
from rlopt.measured.rows import MeasuredRow
from rlopt.problem import Problem
from rlopt.request import Request, UserConstants
from rlopt.studies.configuration.price import PricedConfiguration, price
from rlopt.words import LOW_PRECISIONS, Offload, Placement, Recompute, Sharding, StageKind, Word

OTHER_LENGTHS = 0.02
"""Share by which logged responses may differ from the request's before the comparison is made at theirs."""
OTHER_SAMPLES = 0.05
PAIRS_ONLY = ("dpo", "rm")


@dataclass(frozen=True, slots=True)
class UserLogs:
    """What logs of one configuration say, held against its plan.

    ``request`` is the one at the logged lengths, ``shipped`` its plan as rlopt ships and ``shipped_run`` its stages,
    ``run`` the stages under the framework that wrote the logs.
    """

    request: Request
    shipped: FoundPlan
    shipped_run: UserRun
    run: UserRun
    fitted: Fitted
    logged: Mapping[str, float]
    """Seconds by stage over all logs."""
    notes: tuple[str, ...]


def user_logs(
    logs: Sequence[tuple[Log, SteadyState]], request: Request, problem: Problem, config: Configuration
) -> UserLogs:
    """Fit the constants on logs of one configuration, under ``request`` of the problem's job.

    Raises InputError where they are of another job.
    """
    request, notes = at_lengths(request, [one for _, one in logs])
    priced = price(problem, config, request)
    shipped = _plan(priced, config)
    check_samples(logs, request, shipped)
    launcher = logs[0][0].launcher
    other = next((log for log, _ in logs if log.launcher.NAME != launcher.NAME), None)
    if other is not None:
        message = f"is of {other.launcher.NAME}, {logs[0][0].name} of {launcher.NAME}"
        fix = "calibrate on the logs of one run"
        raise InputError.of("format", message, file=other.name, allowed="logs of one launcher", fix=fix)
    framework = (
        _framework(launcher.FRAMEWORK, shipped, logs, problem.catalog.calibration) if request.job.generates else None
    )
    own = with_constants(request, _framework_alone(framework)) if framework else None
    known = priced if own is None else price(problem, config, own)
    run = user_run(_plan(known, config), known.problem)
    timed = []
    for log, one in logs:
        if one.overlapped and run.placement != Placement.ASYNC:
            message = "the log is of a run that samples beside training, the configuration is not asynchronous"
            fix = "name the configuration that ran with --config"
            raise InputError.of("placement", message, file=log.name, allowed="async", fix=fix)
        if run.placement == Placement.ASYNC and not one.overlapped and GENERATE in one.middles:
            notes.append(f"{log.name} looks as if sampling and training took turns, the configuration is asynchronous")
        stages = {name: (middle.seconds, middle.sigma) for name, middle in one.middles.items()}
        timed.append((run, timings_of(stages, run, one.whole)))
    fitted = refit(timed)
    for odd in fitted.refused:
        expected = run.predicted(run.base)[odd.stage]
        notes.append(
            f"{odd.stage}: {odd.seconds:.4g} s logged, {expected:.4g} s predicted: no constant is so wrong; it is not "
            "used: see whether the request and --config are those of the run"
        )
    names = {name for _, one in logs for name in one.middles}
    logged = {name: _middle([one.middles[name].seconds for _, one in logs if name in one.middles]) for name in names}
    return UserLogs(request, shipped, user_run(shipped, priced.problem), run, fitted, logged, tuple(notes))


def _middle(values: Sequence[float]) -> float:
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _plan(priced: PricedConfiguration, config: Configuration) -> FoundPlan:
    if priced.plan is None:
        message = "the configuration does not fit as the request describes it, so nothing can be held against the log"
        fix = "see why with: rlopt evaluate REQUEST --config CONFIG"
        raise InputError.of("pools", message, file=config.file, allowed="the configuration that ran", fix=fix)
    return priced.plan


def at_lengths(request: Request, logs: Sequence[SteadyState]) -> tuple[Request, list[str]]:
    """The request with the mean response of the logs, where they tell one that differs."""
    told = [one.response_tokens for one in logs if one.response_tokens]
    stated = request.job.response_tokens
    if not told or not request.job.generates or request.job.algorithm == "vla":
        return request, []
    mean = sum(told) / len(told)
    if abs(mean / stated.mean - 1.0) <= OTHER_LENGTHS or not 0.0 < mean < stated.max:
        return request, []
    p99 = None if stated.p99 is None or stated.p99 <= mean else stated.p99
    lengths = stated.model_copy(update={"mean": mean, "p99": p99})
    note = (
        f"responses have {mean:,.0f} tokens in the log and {stated.mean:,.0f} in the request: predictions are held "
        f"against the log at the log's length; plan with --set job.response_tokens.mean={mean:.0f}"
    )
    return request.replaced("job.response_tokens", lengths), [note]


def check_samples(logs: Sequence[tuple[Log, SteadyState]], request: Request, plan: FoundPlan) -> None:
    """Refuse logs whose steps have other samples than the request's: they are of another job."""
    if not request.job.generates or request.job.filter.drop:
        return
    wanted = request.job.prompts_per_step * (plan.decisions.group_size or 1)
    for log, one in logs:
        if one.sequences is not None and abs(one.sequences / wanted - 1.0) > OTHER_SAMPLES:
            message = f"a step of the log has {one.sequences:,.0f} samples, the request and its plan {wanted:,.0f}"
            fix = "state the run's with --set job.prompts_per_step=..., or its group size with --config"
            raise InputError.of("job.prompts_per_step", message, file=log.name, allowed=f"{wanted:,.0f}", fix=fix)


def _framework(name: str, plan: FoundPlan, logs: Sequence[tuple[Log, SteadyState]], calibration: Calibration) -> str:
    """Row of the frameworks that a launcher's loop is, by its name, the training backend and the mode."""
    sharded = plan.pools[0].layout is None or plan.pools[0].layout.sharding == "zero3"
    beside = any(one.overlapped for _, one in logs)
    placement = plan.decisions.placement
    cells = {
        "framework": name,
        "train_backend": "fsdp" if sharded else "megatron",
        "placement": placement,
        "mode": "async" if beside or placement == Placement.ASYNC else "sync",
    }
    return framework_of(MeasuredRow(1, cells), calibration)


def _framework_alone(name: str | None) -> UserConstants:
    return UserConstants(name="framework", as_of="-", document=f'{{"rl": {{"framework": "{name}"}}}}')


def with_constants(request: Request, constants: UserConstants | None) -> Request:
    """The same request under other constants."""
    return request.model_copy(update={"constants": constants})


def user_run(plan: FoundPlan, problem: Problem) -> UserRun:
    """The stages of a plan, and what decides how constants change them."""
    request = problem.request
    base: Calibration = problem.catalog.calibration.with_own(request.constants.document if request.constants else None)
    spent: dict[str, dict[str, float]] = {}
    for one in plan.time.stages:
        pools = spent.setdefault(one.stage, {})
        pools[one.pool] = pools.get(one.pool, 0.0) + one.seconds
    trains = next(pool for pool in plan.pools if StageKind.TRAIN in pool.roles and pool.gpu)
    samples = next((pool for pool in plan.pools if StageKind.SAMPLE in pool.roles and pool.gpu), trains)
    world = max(spent.get(StageKind.ENVIRONMENT, {}).values(), default=0.0)
    policy = [role for role in problem.workload.roles if role.name in POLICY]
    shape = ModelShape.of(policy[0].model) if policy else ModelShape.of(problem.workload.roles[0].model)
    training = role_training(request, policy[0] if policy else problem.workload.roles[0])
    engine = PLANNED_ENGINES[int(training_engine(_layout(trains.layout), training)[0])]
    generations = tuple(str(problem.catalog.devices[str(pool.gpu)].generation) for pool in (trains, samples))
    return UserRun(
        base=base,
        placement=plan.decisions.placement if request.job.generates else "",
        update=math.fsum(spent.get(StageKind.TRAIN, {}).values()),
        score=math.fsum(spent.get(StageKind.SCORE, {}).values()),
        sample=max(spent.get(StageKind.SAMPLE, {}).values(), default=0.0) + world,
        step=plan.time.step_seconds,
        world=world,
        moe=any(role.model.experts > 0 for role in problem.workload.roles),
        moved=replace(shape, params=moved_params(policy, request.job.trainable)) if policy else shape,
        trains=str(trains.gpu),
        samples=str(samples.gpu),
        generations=(generations[0], generations[1]),
        engine=engine,
        low=_low(plan.decisions.precision.rollout),
        link=_link(plan),
    )


def _link(plan: FoundPlan) -> tuple[float, float]:
    """What a slow link adds to the wait for weights, of the pool that trains and of the one that samples.

    Transfers of a plan with two pools: each pool's own wait, and at the end what no pool owns.
    """
    own = [one for one in plan.time.stages if one.stage == "transfer"][:-1]
    if plan.decisions.placement == Placement.COLOCATED or not own:
        return 0.0, 0.0
    trains = next(pool.name for pool in plan.pools if StageKind.TRAIN in pool.roles)
    waits = [max((one.seconds for one in own if (one.pool == trains) is here), default=0.0) for here in (True, False)]
    return waits[0], waits[1]


def _low(precision: str | None) -> bool:
    """Whether an engine holds its weights in less than 16 bits."""
    return precision is not None and precision in LOW_PRECISIONS


def _layout(told: LayoutChoice | None) -> Layout:
    """A plan's layout as the estimates take it."""
    import numpy as np

    given = told or LayoutChoice()
    codes: dict[str, type[Word]] = {"sharding": Sharding, "recompute": Recompute, "offload": Offload}
    values = {}
    for name in ("tp", "pp", "vp", "dp", "cp", "ep", "etp", "sharding", "micro_batch", "recompute", "offload"):
        value = getattr(given, name)
        code = codes[name](value).code if name in codes and value is not None else 0
        values[name] = np.array([code if name in codes else value or 1], dtype=np.int64)
    return Layout(**values)
