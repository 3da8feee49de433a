"""Files of one's own timings to a new calibration: logs of a configuration, or rows of measurement files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rlopt.answers.configuration import Configuration
from rlopt.answers.plan import FoundPlan
from rlopt.answers.recalibration import CalibratedBand, Errors, LogRead, MovedConstant, Recalibration
from rlopt.errors import InputError
from rlopt.estimates.uncertainty import EIGHTY
from rlopt.facts import Catalog
from rlopt.fitting.user_rows import RowsFit, fit_rows
from rlopt.measured.quantities import RL
from rlopt.measured.rows import read_table
from rlopt.problem import Problem
from rlopt.reading.calibration_text import UserCalibration
from rlopt.reading.configuration.file import read_configuration
from rlopt.reading.configuration.saved_plan import of_plan
from rlopt.request import Request
from rlopt.studies.diff import difference
from rlopt.studies.problem import problem_of
from rlopt.studies.running.calibrate import StatedRun, calibrate
from rlopt.studies.running.user_log import with_constants
from rlopt.studies.solve import solve

CSV = ".csv"


def calibrating(
    paths: Sequence[Path],
    request: Request | None,
    config: str | Path | Configuration | None,
    catalog: Catalog,
    stated: StatedRun,
    backend: str = "pulp",
) -> Recalibration:
    """Refit on ``paths``, by default of the optimum of ``request``.

    Raises
    ------
    InputError
        Where a file tells no time, logs and rows are mixed, or logs come without the request of their job.
    """
    tables = [path for path in paths if path.suffix.lower() == CSV]
    if tables and len(tables) < len(paths):
        message = "rows of measurements and logs of a run cannot be mixed"
        raise InputError.of(
            "LOG", message, allowed="logs alone, or .csv files alone", fix="calibrate one after the other"
        )
    if tables:
        return _of_rows(tables, request, catalog, stated.as_of, backend)
    if request is None:
        message = "a log does not say what job it is of"
        fix = "name the job's constraints.yaml with --request"
        raise InputError.of("--request", message, allowed="the request of the job that ran", fix=fix)
    problem = problem_of(request, catalog)
    found = calibrate(paths, problem, _configuration(config, problem, backend), stated, backend)
    if config is not None:
        return found
    note = "what ran is not stated, so the request's optimum is taken for it: name it with --plan or --config"
    return found.model_copy(update={"notes": [note, *found.notes]})


def _configuration(config: str | Path | Configuration | None, problem: Problem, backend: str) -> Configuration:
    if isinstance(config, Configuration):
        return config
    if config is not None:
        return read_configuration(config)
    plan = solve(problem, backend, short_frontier=False)
    if not isinstance(plan, FoundPlan):
        message = "the request has no plan that the log could be of"
        raise InputError.of("--config", message, allowed="a configuration", fix="state the one that ran with --config")
    return of_plan(plan)


def _of_rows(paths: Sequence[Path], request: Request | None, catalog: Catalog, day: str, backend: str) -> Recalibration:
    """The same of measurement files; the plan of ``request`` under both calibrations, where there is one."""
    base, fits, read = catalog.calibration, list[tuple[str, RowsFit]](), list[LogRead]()
    constants = base
    for path in paths:
        table = read_table(path)
        found, left_out = fit_rows(table, catalog, constants)
        rows = sum(len(one.ids) for one in found)
        used = f"{rows} measurements of {len(table.rows)} rows"
        read.append(LogRead(name=path.name, format="csv", lines=len(table.rows), used=used, left_out=left_out))
        fits += [(path.name, one) for one in found]
        constants = found[-1].calibration if found else constants
    if not fits:
        message = "no row tells a time that can be predicted"
        fix = "see the reasons with: rlopt validate FILE"
        raise InputError.of("", message, file=str(paths[0]), allowed="columns as rlopt validate reads them", fix=fix)
    moved: dict[tuple[str, ...], tuple[float, float]] = {}
    for _, one in fits:
        for constant, (base_at, after) in one.moved.items():
            moved[constant] = (moved.get(constant, (base_at, after))[0], after)
    names = {path: f"{len(one.ids)} rows of {name}" for name, one in fits for path in one.moved}
    name = f"rows of {', '.join(path.name for path in paths)}"
    provenance = {
        "files": [one.model_dump(include={"name", "used", "left_out"}) for one in read],
        "moved": {".".join(path): [*values, names[path]] for path, values in moved.items()},
    }
    calibration = UserCalibration(name, day, _framework(fits), moved, _own(fits), None, provenance)
    answer = Recalibration(
        name=name,
        logs=read,
        framework=_framework(fits),
        moved=[
            MovedConstant(
                constant=".".join(path), before=before, after=after, because=names[path], at_bound=_held(path, fits)
            )
            for path, (before, after) in moved.items()
        ],
        stayed=[".".join(path) for _, one in fits for path in one.stayed],
        errors=[_errors(one) for _, one in fits],
        bands=[
            CalibratedBand(what=f"{one.kind} on {device}", before=_half(before), after=_half(after))
            for _, one in fits
            for device, (before, after) in one.band.items()
        ],
        calibration=calibration.text(),
    )
    if request is None:
        return answer
    both_ways = request, with_constants(request, calibration.constants())
    shipped, mine = (solve(problem_of(one, catalog), backend, short_frontier=False) for one in both_ways)
    known = isinstance(shipped, FoundPlan) and isinstance(mine, FoundPlan)
    both = difference(shipped, mine, ("shipped constants", "your own")) if known else None
    return answer.model_copy(update={"plan": mine, "difference": both})


def _half(sigma: float) -> float:
    return float(np.exp(EIGHTY * sigma)) - 1.0


def _held(path: tuple[str, ...], fits: Sequence[tuple[str, RowsFit]]) -> bool:
    return any(path in one.at_bound for _, one in fits)


def _errors(one: RowsFit) -> Errors:
    """Median error of a kind, before and after, as a share."""
    before, after = (float(np.median(np.abs(values / one.measured - 1.0))) for values in (one.before, one.after))
    return Errors(kind=one.kind, rows=len(one.ids), before=before, after=after)


def _framework(fits: Sequence[tuple[str, RowsFit]]) -> str | None:
    """The one framework that all RL rows are of."""
    names = {
        path[2] for _, one in fits if one.kind == RL for path in (*one.moved, *one.stayed) if path[1] == "frameworks"
    }
    return names.pop() if len(names) == 1 else None


def _own(fits: Sequence[tuple[str, RowsFit]]) -> dict[str, dict[str, float]]:
    """Bands by stage kind and GPU type, where they are narrower: of loops for both of their stages."""
    found: dict[str, dict[str, float]] = {"training": {}, "generation": {}}
    loops = any(one.kind == RL for _, one in fits)
    for _, one in fits:
        kinds = ("training", "generation") if one.kind == RL else () if loops else (one.kind,)
        for kind in kinds:
            found[kind] |= {
                device: float(f"{after:.4g}") for device, (before, after) in one.band.items() if after < before
            }
    return found
