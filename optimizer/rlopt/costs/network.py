"""Network: the data set brought in, traffic to and from a store elsewhere, logs that leave, the final weights out.

Inside one zone traffic is free, and so is what comes in from a model hub. USD = GB · price [USD/GB].
"""

from __future__ import annotations

import math

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import Terms, plan_state_gb, plan_weights_gb, runs, variant_of
from rlopt.costs.logging import leaving_lines, leaving_usd
from rlopt.costs.stored import unfinished
from rlopt.costs.stored.copies import (
    best_stay,
    copies,
    history_stay,
    left_stay,
    plan_returns,
    recent_parts,
    role_routes,
    stored_weights_gb,
    tariff_of,
    weight_parts,
)
from rlopt.costs.stored.kept_bytes import base_weights_bytes, held_charges, held_parts, trajectories
from rlopt.costs.stored.tier_moves import Route, route_charge
from rlopt.costs.stored.tiers import Stay, added, free_share
from rlopt.market.volumes import frame_bytes, version_bytes
from rlopt.problem import Columns, Problem
from rlopt.units import bytes_to_gb

DIMENSION = "network"


def terms(columns: Columns, problem: Problem) -> Terms:
    """Data set, uploads, reads, logs and final weights, USD by column."""
    zone, size = columns.zone, len(columns)
    recent, (best, history) = recent_parts(columns, problem), weight_parts(columns, problem)
    held = list(held_parts(columns, problem).values())
    egress = np.array([tariff.egress_per_gb for tariff in problem.tariffs])
    brought = np.array([tariff.data_per_gb for tariff in problem.tariffs])
    return {
        "data set from elsewhere": brought[zone] * bytes_to_gb(version_bytes(problem.request)),
        "checkpoint upload": added(size, (recent.uploaded, best.uploaded, history.uploaded)),
        "uploads to the store": added(size, (part.uploaded for part in held)),
        "reads from the store": added(size, (best.downloaded, history.downloaded, *(part.downloaded for part in held))),
        "reads after stops": added(size, [recent.downloaded]),
        "final weights": np.asarray(stored_weights_gb(columns, problem) * egress[zone]),
        "logs out of the cloud": leaving_usd(columns, problem),
        **unfinished.network_terms(columns, problem),
    }


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """The same of a finished plan; what is free stands at zero where a reader may ask for it."""
    tariff, trials = tariff_of(plan, problem), problem.request.job.trials
    weights = plan_weights_gb(plan, problem)
    base = bytes_to_gb(base_weights_bytes(problem, variant_of(plan, problem)))
    found = [
        *_data_set(tariff.data_per_gb, tariff.data_note, problem),
        _line("base weights from the hub", "fixed", 0.0, f"{base:.2f} GB{runs(trials)}: taking in is free"),
        *_simulators(plan, problem),
        *_store(plan, problem),
        _line(
            "final weights",
            "fixed",
            weights * tariff.egress_per_gb,
            f"{weights:.2f} GB x {tariff.egress_per_gb:g} USD/GB to the internet"
            + (f" ({tariff.egress_note})" if tariff.egress_note else ""),
        ),
    ]
    return found + unfinished.lines(plan, problem, tariff, DIMENSION) + leaving_lines(plan, problem)


def _data_set(price: float, note: str, problem: Problem) -> list[BillLine]:
    """Bringing the data set in, once for all runs; no line where it stands beside the pools from the start."""
    if not note:
        return []
    gb = bytes_to_gb(version_bytes(problem.request))
    return [_line("data set from elsewhere", "fixed", gb * price, f"{gb:.4g} GB x {price:g} USD/GB {note}")]


def _simulators(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Trajectories from simulators or robots to the trainer: inside the zone, or into it."""
    acting = problem.workload.acting
    if acting is None:
        return []
    count = float(trajectories(problem, plan.decisions.group_size or 1, plan.time.steps)) * problem.request.job.trials
    gb = count * acting.frames * bytes_to_gb(frame_bytes(problem.request, problem.workload, problem.operations))
    where = "into the zone" if acting.kind == "robot" else "inside the zone"
    text = f"{count:g} trajectories, {gb:.4g} GB {where}: free"
    return [_line("trajectories to the trainer", "elastic", 0.0, text)]


def _store(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Traffic to and from the store: checkpoints, what else is held, reads after stops."""
    tariff, where, trials = tariff_of(plan, problem), role_routes(plan, problem), problem.request.job.trials
    hours, files, free = plan.time.expected_hours, plan.pools[0].gpus, free_share(problem)
    state, weights = plan_state_gb(plan, problem), plan_weights_gb(plan, problem)
    saves = math.ceil(plan.time.steps / plan.decisions.checkpoint.interval_steps)
    recent, best, history = copies(problem, plan.time.steps)
    tier, stopped = where["recent"].first, plan_returns(plan, problem)
    left = left_stay(problem, state, recent - 1, files)
    moved = route_charge(where["recent"], left, free)
    up, down = saves * state * tier.upload_per_gb * trials + float(moved.uploaded), 0.0
    sent = [f"{saves} saves x {state:.2f} GB x {tier.upload_per_gb:g} USD/GB"]
    got: list[str] = []
    moves = [_of_move("recent copies", where["recent"], left)]
    for role, stay_of, count in (("best", best_stay, best), ("history", history_stay, history)):
        if count:
            stay, route = stay_of(problem, weights, count, hours, files), where[role]
            part = route_charge(route, stay, free)
            up, down = up + float(part.uploaded), down + float(part.downloaded)
            sent.append(f"{count} {role} copies x {weights:.2f} GB x {route.first.upload_per_gb:g} USD/GB")
            if stay.read_gb and route.first.download_per_gb:
                got.append(f"{role} copy {weights:.2f} GB x {route.first.download_per_gb:g} USD/GB{runs(trials)}")
            moves.append(_of_move(f"{role} copies", route, stay))
    text = " + ".join(sent) + f" (0 inside the provider){runs(trials)}" + "".join(moves)
    found = [_line("checkpoint upload", "elastic", up, text)]
    written, texts = 0.0, []
    for item, (stay, route, part) in held_charges(plan, problem, tariff).items():
        at = route.first
        written, down = written + float(part.uploaded), down + float(part.downloaded)
        if part.uploaded:
            texts.append(f"{item} {float(stay.written_gb):.4g} GB x {at.upload_per_gb:g} USD/GB")
            texts[-1] += _of_move(item, route, stay)
        if part.downloaded:
            read = float(stay.read_gb + stay.later_gb)
            got.append(f"{item} {read:.4g} GB x {at.download_per_gb:g} USD/GB{_of_move(item, route, stay)}")
    if texts:
        found.append(_line("uploads to the store", "elastic", written, " + ".join(texts)))
    if got:
        found.append(_line("reads from the store", "fixed", down, " + ".join(got) + " out of another provider"))
    text = f"{stopped:.4f} expected stops x {state:.2f} GB x {tier.download_per_gb:g} USD/GB (0 inside the provider)"
    usd = stopped * state * tier.download_per_gb * trials + float(moved.downloaded)
    text += runs(trials) + _of_move("recent copies", where["recent"], left)
    found.append(_line("reads after stops", "elastic", usd, text))
    return found


def _of_move(item: str, route: Route, stay: Stay) -> str:
    """Traffic of a move in words; nothing where there is none."""
    if route.second is None or not (route.first.download_per_gb or route.second.upload_per_gb):
        return ""
    price = route.first.download_per_gb + route.second.upload_per_gb
    return f"; {item} moved to {route.second.name}: {float(stay.gb):.4g} GB x {price:g} USD/GB"


def _line(item: str, kind: str, usd: float, basis: str) -> BillLine:
    return BillLine.model_validate({"dimension": DIMENSION, "item": item, "kind": kind, "usd": usd, "basis": basis})
