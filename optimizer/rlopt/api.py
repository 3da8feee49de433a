"""The public functions: the same words as the commands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlopt.answers.plan import FoundPlan, Frontier, Plan
from rlopt.facts import Catalog
from rlopt.pricelists.catalog import catalog as catalog  # one of the public functions
from rlopt.pricelists.catalog import facts_of
from rlopt.request import Request
from rlopt.studies import frontier as frontier_study
from rlopt.studies.problem import problem_of as problem_of  # one of the public functions
from rlopt.studies.solve import solve as solve_study

if TYPE_CHECKING:
    from rlopt.answers.comparison import Comparison
    from rlopt.answers.configuration import Configuration
    from rlopt.answers.difference import Difference
    from rlopt.answers.evaluation import ConfigurationEvaluation
    from rlopt.answers.explanation import Explanation
    from rlopt.answers.recalibration import Recalibration
    from rlopt.answers.review import Review
    from rlopt.launchers.exports import Export


def load(
    path: str | Path,
    overrides: Sequence[str] = (),
    calibration: str | Path | None = None,
    steps_done: int | None = None,
    facts: Catalog | None = None,
) -> Request:
    """Read and validate a constraints file.

    ``overrides`` are ``key=value`` texts as of ``--set``. ``calibration``: a file of `rlopt calibrate`, as of
    `with_calibration`. Raises InputError with every complaint at once.
    """
    from rlopt.reading.request_file import load_request

    request = load_request(Path(path), overrides)
    return request if calibration is None else with_calibration(request, calibration, steps_done, facts)


def with_calibration(
    request: Request, calibration: str | Path, steps_done: int | None = None, facts: Catalog | None = None
) -> Request:
    """The request with constants of one's own timings; the rest of the run where they are of a run of this job.

    ``steps_done``: steps that are done by now; by default those of the calibration, 0 plans the whole job. Raises
    InputError.
    """
    from rlopt.reading.calibration_file import read_calibration
    from rlopt.reading.rest import with_own

    return with_own(request, read_calibration(calibration, facts), steps_done)


def solve(
    request: Request,
    backend: str = "pulp",
    time_limit: float | None = None,
    facts: Catalog | None = None,
    short_frontier: bool = True,
    stress: Sequence[float] = (),
    stress_load: Sequence[float] = (),
    calibration: str | Path | None = None,
) -> Plan:
    """The cheapest plan within the limits (or the fastest within the budget), proven and audited.

    Returns a plan whatever its status; ``plan.require()`` raises where there is none. An infeasible plan carries the
    changes that help. ``stress``: paces to tell the plan at, 1.5 where every step takes 1.5 times what is predicted.
    ``stress_load``: loads to tell it at, 1.5 for responses of 1.5 times the length, and as many samples in every step.
    ``calibration``: as of `with_calibration`.
    """
    if calibration is not None:
        request = with_calibration(request, calibration, facts=facts)
    return solve_study(problem_of(request, facts), backend, time_limit, short_frontier, stress, stress_load)


def frontier(request: Request, points: int = 20, backend: str = "pulp", facts: Catalog | None = None) -> Frontier:
    """Cost against confident hours: at most ``points`` proven plans, none dominated."""
    return frontier_study.frontier(problem_of(request, facts), points, backend)


def explain(request: Request, backend: str = "pulp", facts: Catalog | None = None) -> Explanation:
    """Why this plan: what each limit is worth and why other GPUs, providers, placements and prices lost.

    Where there is no plan: which changes open one. Raises MissingFactError and NotSupportedError.
    """
    from rlopt.studies.explain.explain import explain as explain_study

    return explain_study(problem_of(request, facts), backend)


def with_alternatives(
    request: Request, plan: Plan, count: int, within: float = 0.05, facts: Catalog | None = None
) -> Plan:
    """The same plan with up to ``count`` proven near-optimal ones beside it: other GPUs, providers or placements.

    ``within``: how much more they may cost (or, where the objective is time, take), as a share.
    """
    from rlopt.studies.alternatives import alternatives

    if not isinstance(plan, FoundPlan):
        return plan
    found = alternatives(problem_of(request, facts), plan, count, within)
    return plan.model_copy(update={"alternatives": found})


def diff(
    a: str | Path,
    b: str | Path,
    backend: str = "pulp",
    facts: Catalog | None = None,
    calibration: str | Path | None = None,
) -> Difference:
    """Two requests or saved plans side by side, in money, hours and decisions; requests are solved first.

    ``calibration``: as of `with_calibration`, for both requests.
    """
    from rlopt.reading.plan_file import is_plan, read_plan
    from rlopt.studies.diff import difference

    def plan_of(path: Path) -> Plan:
        return (
            read_plan(path)
            if is_plan(path)
            else solve(load(path, calibration=calibration, facts=facts), backend, facts=facts, short_frontier=False)
        )

    first, second = Path(a), Path(b)
    return difference(plan_of(first), plan_of(second), (first.name, second.name))


def compare(
    paths: Sequence[str | Path],
    algorithms: Sequence[str] = (),
    overrides: Sequence[str] = (),
    backend: str = "pulp",
    facts: Catalog | None = None,
    calibration: str | Path | None = None,
) -> Comparison:
    """Plans side by side: one request by several algorithms, or several requests and saved plans.

    One path is a request, solved for each of ``algorithms`` (default: its own and those below its ``compare`` key).
    ``calibration``: constants of one's own, for whole jobs. Raises InputError where it does not state what an
    algorithm needs.
    """
    from rlopt.studies.compare import Solving, side_by_side

    return side_by_side([Path(path) for path in paths], algorithms, overrides, Solving(facts, calibration, backend))


def review(plan: str | Path, bill: str | Path) -> Review:
    """The bill that came against a saved plan, split into trials, throughput, price, growth and the rest."""
    from rlopt.measured.bill import read_bill
    from rlopt.reading.plan_file import read_plan
    from rlopt.studies.running.review import review as review_study

    first, second = Path(plan), Path(bill)
    return review_study(read_plan(first), read_bill(second), (first.name, second.name))


def evaluate(
    request: Request, config: str | Path | Configuration, backend: str = "pulp", facts: Catalog | None = None
) -> ConfigurationEvaluation:
    """A configuration that somebody has, as a file or read: memory, hours and bill, beside the optimum.

    Raises InputError where it contradicts itself, the request or the catalogs.
    """
    from rlopt.answers.configuration import Configuration
    from rlopt.reading.configuration.file import read_configuration
    from rlopt.studies.configuration.evaluate import evaluate as evaluate_study

    given = config if isinstance(config, Configuration) else read_configuration(config)
    name = Path(given.file).name if given.file else "the configuration"
    return evaluate_study(problem_of(request, facts), given, name, backend)


def calibrate(
    logs: Sequence[str | Path],
    request: Request | None = None,
    config: str | Path | Configuration | None = None,
    launcher: str | None = None,
    steps_done: int | None = None,
    hours_spent: float | None = None,
    as_of: str | None = None,
    backend: str = "pulp",
    facts: Catalog | None = None,
) -> Recalibration:
    """Constants refitted on one's own timings: logs of a run of ``request`` as ``config`` states it, or CSV files.

    ``config`` is a configuration or a plan, by default the request's optimum. ``.calibration`` is the text of the
    file that `load` takes. Raises InputError.
    """
    from rlopt.studies.running.calibrate import StatedRun
    from rlopt.studies.running.timings import calibrating

    known = catalog() if facts is None else facts
    stated = StatedRun(as_of or datetime.now(tz=UTC).date().isoformat(), launcher, steps_done, hours_spent)
    return calibrating([Path(path) for path in logs], request, config, known, stated, backend)


def export(
    request: Request,
    to: str,
    plan: str | Path | Plan | None = None,
    smoke: bool = False,
    backend: str = "pulp",
    facts: Catalog | None = None,
) -> Export:
    """The plan, solved or saved, as a launcher's configuration; ``smoke``: with a short trial that proves memory.

    Raises NotSupportedError (no trainer), InputError (a plan of another request) and InfeasibleError.
    """
    from rlopt.studies.export import export as export_study

    return export_study(request, to, catalog() if facts is None else facts, plan, smoke, backend)


def init_text(algorithm: str = "grpo", model: str | None = None) -> str:
    """A commented constraints.yaml for an algorithm that solves as it is."""
    from rlopt.reading.init_text import init_text as text

    return text(algorithm, model) if model is not None else text(algorithm)


def check(
    path: str | Path,
    overrides: Sequence[str] = (),
    calibration: str | Path | None = None,
    steps_done: int | None = None,
    facts: Catalog | None = None,
) -> list[str]:
    """Sentences on what a valid file says and what was derived from it.

    Raises InputError, also for what it states of a comparison; MissingFactError where it names a model, GPU, place or
    launcher that no catalog knows.
    """
    from rlopt.studies.check import checked

    request = load(path, overrides, calibration, steps_done, facts)
    return checked(request, facts_of(request, facts), Path(path), overrides)


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """JSON Schema of constraints.yaml."""
    from rlopt.request.schema import json_schema

    return json_schema()
