"""Storage: data, weights, trajectories and checkpoints by tier, requests, retrieval, and disks of the machines.

USD = GB · price [USD/GB/h] · hours held / (1 - free share); a copy deleted before the tier's minimum duration is
billed for the minimum. What grows over the run is held half of it on average. Best copies, history, what is kept after
the run and everything that is not a checkpoint stand where they cost least and move where that pays, requests, reads
and traffic included: nothing else depends on it, so each column carries its own best choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs.contract import Terms, plan_state_gb, plan_weights_gb, runs, told
from rlopt.costs.mounts import mount_lines, mount_usd
from rlopt.costs.stored import unfinished
from rlopt.costs.stored.copies import (
    best_stay,
    copies,
    history_stay,
    left_stay,
    plan_returns,
    recent_parts,
    role_routes,
    tariff_of,
    weight_parts,
)
from rlopt.costs.stored.kept_bytes import KINDS, disk_usd, held_charges, held_parts
from rlopt.costs.stored.tier_moves import Route, route_charge
from rlopt.costs.stored.tiers import Stay, TierCharges, Values, added, free_share
from rlopt.costs.text_log import FILES
from rlopt.problem import Columns, Problem
from rlopt.units import HOURS_PER_MONTH, seconds_to_hours

DIMENSION = "storage"
GROWING = ("trajectories", *FILES)
"""Written evenly over a run: held half of it on average."""


def terms(columns: Columns, problem: Problem) -> Terms:
    """Checkpoints by role, what else is held, requests, retrieval and disks, USD by column."""
    recent, (best, history) = recent_parts(columns, problem), weight_parts(columns, problem)
    held = held_parts(columns, problem)
    every, size = [recent, best, history, *held.values()], len(columns)
    left = seconds_to_hours(problem.request.costs.idle.volumes)
    return {
        "recent checkpoints": added(size, [recent.stored]),
        "best checkpoints": added(size, [best.stored]),
        "history checkpoints": added(size, [history.stored]),
        **{item: added(size, [part.stored]) for item, part in held.items()},
        "requests": added(size, (part.requests for part in every)),
        "retrieval": added(size, (part.retrieval for part in every)),
        "mounted data set": mount_usd(columns, problem),
        "disks": disk_usd(columns, problem, columns.expected_hours),
        "orphan volumes": disk_usd(columns, problem, left),
        **unfinished.storage_terms(columns, problem),
    }


@dataclass(slots=True)
class _Traffic:
    """Requests and retrieval of all that is kept, USD, and how they come about, in words."""

    requests: float
    retrieval: float
    wrote: list[str]
    reads: list[str]

    def add(self, part: TierCharges) -> None:
        """What one kind of bytes is charged."""
        self.requests += float(part.requests)
        self.retrieval += float(part.retrieval)

    def tell_of_move(self, item: str, route: Route, stay: Stay) -> None:
        """A move to a second tier; nothing where there is none."""
        if route.second is None:
            return
        tier, to = route.first, route.second
        if stay.files:
            each = f"{tier.get_usd:g} USD each to read, {to.put_usd:g} USD to write"
            self.wrote.append(f"{float(stay.files):g} files of {item} moved: {each}")
        if tier.retrieval_per_gb:
            self.reads.append(f"{item} moved {float(stay.gb):.4g} GB x {tier.retrieval_per_gb:g} USD/GB")


def lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """One line a role of checkpoint and a kind of data, then requests, retrieval and disks; tiers as the plan says."""
    tariff, recent = tariff_of(plan, problem), role_routes(plan, problem)["recent"]
    first, traffic = _recent_line(plan, problem, recent)
    kept = [first, *_weight_lines(plan, problem, traffic), *_held_lines(plan, problem, traffic)]
    tier, trials, files = recent.first, problem.request.job.trials, plan.pools[0].gpus
    text = (
        f"{' + '.join(traffic.wrote)}, a copy is {files} files; {tier.put_usd:g} USD to write one in {tier.name}, "
        f"{tier.get_usd:g} USD to read it after a stop{runs(trials)}"
    )
    return [
        *kept,
        _line("requests", "elastic", traffic.requests, text),
        _line("retrieval", "elastic", traffic.retrieval, " + ".join(traffic.reads) + runs(trials)),
        *mount_lines(plan, problem),
        *unfinished.lines(plan, problem, tariff, DIMENSION),
        *_disks(plan, problem),
    ]


def _recent_line(plan: PlannedRun, problem: Problem, route: Route) -> tuple[BillLine, _Traffic]:
    """The recent copies, and what writing them and reading them after stops takes."""
    steps, trials, files = plan.time.steps, problem.request.job.trials, plan.pools[0].gpus
    saves = math.ceil(steps / plan.decisions.checkpoint.interval_steps)
    state, stopped, tier = plan_state_gb(plan, problem), plan_returns(plan, problem), route.first
    left = left_stay(problem, state, copies(problem, steps)[0] - 1, files)
    free = free_share(problem)
    after = route_charge(route, left, free)
    usd, text = _recent(plan, problem)
    line = _line(
        "recent checkpoints",
        "elastic",
        usd + float(after.stored),
        text + _after_the_run(route, left, free) + told(tier.note),
    )
    traffic = _Traffic(
        trials * files * (saves * tier.put_usd + stopped * tier.get_usd) + float(after.requests),
        stopped * state * tier.retrieval_per_gb * trials + float(after.retrieval),
        [f"{saves} saves"],
        [f"{stopped:.4f} stops x {state:.2f} GB x {tier.retrieval_per_gb:g} USD/GB"],
    )
    traffic.tell_of_move("recent checkpoints", route, left)
    return line, traffic


def _weight_lines(plan: PlannedRun, problem: Problem, traffic: _Traffic) -> Iterator[BillLine]:
    """The best copies and the history."""
    weights, free, where = plan_weights_gb(plan, problem), free_share(problem), role_routes(plan, problem)
    counts, files = copies(problem, plan.time.steps), plan.pools[0].gpus
    for role, stay_of, count in (("best", best_stay, counts[1]), ("history", history_stay, counts[2])):
        if not count:
            continue
        route, stay = where[role], stay_of(problem, weights, count, plan.time.expected_hours, files)
        tier, part = route.first, route_charge(route, stay, free)
        held = max(float(route.after if route.second else stay.hours), tier.min_hours)
        much = f"{count} x {weights:.2f} GB x {held:.2f} h on average"
        if role == "best":
            brief = max(float(stay.brief_hours), tier.min_hours)
            much = f"({count - 1} kept x {held:.2f} h + 1 being written x {brief:.2f} h) x {weights:.2f} GB"
        basis = f"{tier.name}: {much} x {_month(tier.usd_gb_hour)}{_free(free)}{runs(problem.request.job.trials)}"
        if route.second:
            basis += _moved(route, stay, f"{float(stay.gb):.4g} GB", free)
        yield _line(f"{role} checkpoints", "elastic", part.stored, basis + told(tier.note))
        traffic.add(part)
        traffic.wrote.append(f"{count} {role} copies")
        if stay.read_gb:
            traffic.reads.append(f"{role} copy {weights:.2f} GB x {tier.retrieval_per_gb:g} USD/GB")
        traffic.tell_of_move(f"{role} checkpoints", route, stay)


def _held_lines(plan: PlannedRun, problem: Problem, traffic: _Traffic) -> Iterator[BillLine]:
    """Everything that is kept and is no checkpoint."""
    free = free_share(problem)
    for item, (stay, route, part) in held_charges(plan, problem, tariff_of(plan, problem)).items():
        if not stay.gb and not part.stored:
            continue
        tier = route.first
        held = max(float(route.after if route.second else stay.hours), tier.min_hours)
        growing = " on average" if item in GROWING and not route.second else ""
        basis = (
            f"{tier.name}: {float(stay.gb):.4g} GB x {held:.2f} h{growing} x {_month(tier.usd_gb_hour)}{_free(free)}"
        )
        if np.any(stay.brief_gb):
            brief = max(float(stay.brief_hours), tier.min_hours)
            basis += (
                f" + {float(stay.brief_gb):.4g} GB replaced x {brief:.2f} h x {_month(tier.usd_gb_hour)}{_free(free)}"
            )
        if route.second:
            basis += _moved(route, stay, f"{float(stay.gb):.4g} GB", free)
        yield _line(item, KINDS[item], part.stored, basis + told(tier.note))
        traffic.add(part)
        if stay.puts:
            traffic.wrote.append(f"{float(stay.puts):g} {item} written and read once")
        if stay.read_gb and tier.retrieval_per_gb:
            traffic.reads.append(f"{item} {float(stay.read_gb):.4g} GB x {tier.retrieval_per_gb:g} USD/GB")
        if stay.later_gb and (tier.retrieval_per_gb or route.second):
            traffic.reads.append(f"{item} {float(stay.later_gb):.4g} GB read again over their life")
        traffic.tell_of_move(item, route, stay)


def _recent(plan: PlannedRun, problem: Problem) -> tuple[float, str]:
    """USD of holding the recent copies while the runs last, and how."""
    tier, hours = role_routes(plan, problem)["recent"].first, plan.time.expected_hours
    peak = copies(problem, plan.time.steps)[0]
    saves, keep = math.ceil(plan.time.steps / plan.decisions.checkpoint.interval_steps), peak - 1
    early = max(saves - keep, 0) * max(tier.min_hours - keep * hours / max(saves, 1), 0.0)
    state, free, trials = (
        plan_state_gb(plan, problem),
        free_share(problem),
        problem.request.job.trials,
    )
    least = f" + {early:.1f} h of minimum duration" if early > 0.0 else ""
    usd = state * (peak * hours + early) * tier.usd_gb_hour / (1.0 - free) * trials
    return usd, (
        f"{tier.name}: {state:.2f} GB x ({peak} copies x {hours:.3f} h{least}) x "
        f"{_month(tier.usd_gb_hour)}{_free(free)}{runs(trials)}"
    )


def _after_the_run(route: Route, stay: Stay, free: float) -> str:
    """How long copies are kept when the run is over, and where, in words."""
    tier, size = route.first, f"{float(stay.gb):.4g} GB"
    held = max(route.after if route.second else float(stay.hours), tier.min_hours)
    text = f"; kept afterwards in {tier.name}: {size} x {held:g} h x {_month(tier.usd_gb_hour)}{_free(free)}"
    return text + _moved(route, stay, size, free)


def _moved(route: Route, stay: Stay, size: str, free: float) -> str:
    """What is held after a move, in words; nothing where there is none."""
    if route.second is None:
        return ""
    rest = max(float(stay.hours) - route.after, route.second.min_hours)
    return (
        f"; from an age of {route.after:g} h on in {route.second.name}: {size} x {rest:.2f} h x "
        f"{_month(route.second.usd_gb_hour)}{_free(free)}{told(route.second.note)}"
    )


def _disks(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Disks rented, those that machines boot from included, during the runs and until they are deleted."""
    gb, tariff = sum(pool.disk_gb for pool in plan.pools), tariff_of(plan, problem)
    if not gb:
        return []
    free, trials = free_share(problem), problem.request.job.trials
    left = seconds_to_hours(problem.request.costs.idle.volumes)
    machines, image = sum(pool.nodes for pool in plan.pools if pool.disk_gb), problem.catalog.nodes.disk_image_gib
    found = []
    for item, kind, hours in (("disks", "elastic", plan.time.expected_hours), ("orphan volumes", "hidden", left)):
        if not hours:
            continue
        if tariff.disk is None:
            text = f"{gb:.4g} GB x {hours:.3f} h: no price of block storage at {tariff.provider} is known, not billed"
            found.append(_line(item, kind, 0.0, text))
            continue
        price = tariff.disk.usd_gb_hour
        text = f"{tariff.disk.name}: {gb:.4g} GB x {hours:.3f} h x {_month(price)}{_free(free)}{runs(trials)}"
        text += f"; {machines} machines, each boots from {image:g} GiB of it"
        text += told(tariff.disk.note)
        found.append(_line(item, kind, gb * hours * price / (1.0 - free) * trials, text))
    return found


def _line(item: str, kind: str, usd: Values, basis: str) -> BillLine:
    return BillLine.model_validate(
        {"dimension": DIMENSION, "item": item, "kind": kind, "usd": float(usd), "basis": basis}
    )


def _month(usd_gb_hour: float) -> str:
    return f"{usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month"


def _free(share: float) -> str:
    return f" / (1 - {share:g} kept free)"


__all__ = ["DIMENSION", "copies", "lines", "terms"]
