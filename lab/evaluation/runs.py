"""Write docs/evaluation.md: `rlopt evaluate` on every published configuration that states enough.

``python -m lab evaluation`` evaluates each, writes measurements/evaluated_runs.csv, then the page. ``--page``
writes the page alone, ``--check`` compares it with what the file says and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from lab import MEASUREMENTS, ROOT, pages
from lab.evaluation import page as evaluation_page
from lab.savings import runs as savings
from rlopt import api
from rlopt.answers.configuration import Configuration, DecisionsGiven, LayoutGiven, PoolGiven, PrecisionGiven
from rlopt.errors import InputError, NotSupportedError, RloptError
from rlopt.measured.rows import MeasuredRow
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.studies.configuration.price import price
from rlopt.studies.configuration.published_request import Published
from rlopt.studies.configuration.shortfall import misfit

FOUND = MEASUREMENTS / "evaluated_runs.csv"
PAGE = ROOT / "docs" / "evaluation.md"
COLUMNS = (
    "id",
    "row",
    "match",
    "run",
    "fits",
    "hours",
    "published_hours",
    "hours_are",
    "usd",
    "fullest_stage",
    "needed_gib",
    "capacity_gib",
    "breaks",
    "outside",
    "freed",
    "reason",
    "inputs",
)


def configuration(run: Published, request: Request, usd_per_gpu_hour: float | None) -> Configuration:
    """A published run as `rlopt evaluate` reads it; a price makes its machines stand as they were printed."""
    pool = run.training_gpus or run.gpus
    each = run.machine.gpus if run.machine is not None and pool % run.machine.gpus == 0 else None
    own = usd_per_gpu_hour
    machine = {"gpu": run.device, "usd_per_gpu_hour": own, "gpus_per_node": each if own is not None else None}
    apart = run.training_gpus is not None
    layout = dict(run.degrees) | {
        "sharding": None if run.sharding is None else f"zero{run.sharding}",
        "offload": run.offload,
        "rollout_tp": None if apart or not request.job.generates else run.rollout_tp,
    }
    first = PoolGiven(role="train", gpus=pool, layout=LayoutGiven.model_validate(layout), **machine)
    pools = [first]
    if apart:
        more = LayoutGiven(tp=run.rollout_tp)
        pools.append(PoolGiven(role="rollout", gpus=run.gpus - pool, layout=more, **machine))
    precision = PrecisionGiven(
        update=run.update_precision, rollout=run.rollout_precision if request.job.generates else None
    )
    size = run.group_size if run.group_size in request.group_sizes and request.job.generates else None
    placement = run.placement if request.job.generates else None
    return Configuration(
        pools=tuple(pools), decisions=DecisionsGiven(placement=placement, group_size=size, precision=precision)
    )


def without_layout(config: Configuration) -> Configuration:
    """The same machines with the layout free."""
    pools = tuple(pool.model_copy(update={"layout": LayoutGiven()}) for pool in config.pools)
    return config.model_copy(update={"pools": pools})


@lru_cache(maxsize=32)
def problem_of(name: str) -> Problem | str:
    """An example's problem, or why it has none in this release."""
    try:
        return api.problem_of(api.load(savings.EXAMPLES / f"{name}.yaml"))
    except NotSupportedError as error:
        return str(error)


def evaluated(row: MeasuredRow) -> dict[str, str]:
    """One line of the file."""
    printed = savings.printed(row)
    kept = ("id", "row", "match", "run", "published_hours", "hours_are", "inputs")
    cells = dict.fromkeys(COLUMNS, "") | {name: printed[name] for name in kept}
    problem, runs = problem_of(row.id), savings.published(row)
    if isinstance(problem, str) or isinstance(runs, str):
        return cells | {"reason": str(problem if isinstance(problem, str) else runs)}
    dollars, rate = row.number("price_per_gpu_hour"), 1.0
    if row.text("currency") not in ("", "USD"):
        rate = (
            problem.request.costs.usd_per_unit(row.text("currency"))
            or savings.with_rate(problem, row.text("currency"))[0].request.costs.usd_per_unit(row.text("currency"))
            or 0.0
        )
    usd = None if dollars is None or not rate else dollars * rate
    return cells | _first(problem, [configuration(run, problem.request, usd) for run in runs])


def _first(problem: Problem, configs: Iterable[Configuration]) -> dict[str, str]:
    """Of several readings of a row the first that fits, else the first."""
    found = [_one(problem, config) for config in configs]
    return next((one for one in found if one["fits"] == "yes"), found[0])


def _one(problem: Problem, config: Configuration) -> dict[str, str]:
    freed = ""
    try:
        try:
            found = price(problem, config)
            if found.plan is None:
                why, memory = misfit(found.problem, config, found.machines)
                full = {} if not memory else _memory(memory[0].stage, memory[0].needed_gib, memory[0].capacity_gib)
                return {"fits": "no", "reason": why.reason, "outside": "; ".join(found.outside), **full}
        except InputError as error:
            if "layout" not in error.complaints[0].message:
                raise
            freed = error.complaints[0].message
            found = price(problem, without_layout(config))
            if found.plan is None:
                return {"fits": "no", "freed": freed, "reason": "no layout of these machines fits"}
    except RloptError as error:
        return {"fits": "", "reason": str(error).partition("\n")[0]}
    assert found.plan is not None
    assert found.plan.time is not None
    assert found.plan.cost is not None
    peak = max(found.memory, key=lambda one: one.needed_gib / one.capacity_gib)
    return {
        "fits": "yes",
        "hours": f"{found.plan.time.expected_hours:.3f}",
        "usd": f"{found.plan.cost.total_usd:.2f}",
        "breaks": "; ".join((*found.broken, *(key for key in found.outside if key.startswith("limits.")))),
        "outside": "; ".join(key for key in found.outside if key.startswith("choices.")),
        "freed": freed,
        **_memory(f"{peak.pool}: {peak.stage}", peak.needed_gib, peak.capacity_gib),
    }


def _memory(stage: str, needed: float, capacity: float) -> dict[str, str]:
    return {"fullest_stage": stage, "needed_gib": f"{needed:.1f}", "capacity_gib": f"{capacity:.1f}"}


def found_csv(chosen: Iterable[MeasuredRow] | None = None) -> str:
    """Every row evaluated, as CSV."""
    return pages.as_csv(COLUMNS, map(evaluated, savings.rows() if chosen is None else chosen))


def found_rows() -> list[Mapping[str, str]]:
    """The lines of the checked-in file."""
    return pages.read(FOUND)


def page() -> str:
    """Build the page from the checked-in file."""
    return evaluation_page.page(found_rows())


def main(arguments: list[str]) -> int:
    """Write both, the page, or nothing, as asked."""
    return pages.Page("evaluation", FOUND, PAGE, found_csv, page).run(arguments)
