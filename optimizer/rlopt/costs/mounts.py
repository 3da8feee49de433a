"""A file system, or volumes, that the data set stands on while a job runs: provisioned, so billed used or not.

USD = units · (GB · price + paid MB/s · price of throughput + paid operations a second · their price) · hours · runs
"""

from __future__ import annotations

from rlopt.answers.plan import BillLine, LoadDecision, PlannedRun
from rlopt.costs.contract import runs, told
from rlopt.costs.stored.copies import tariff_of
from rlopt.problem import Columns, Floats, Problem
from rlopt.problem.loading import Mount
from rlopt.units import HOURS_PER_MONTH

ITEM = "mounted data set"


def mount_usd(columns: Columns, problem: Problem) -> Floats:
    """USD by column; it stands as long as a run takes."""
    usd: Floats = columns.mount_usd_per_hour * columns.expected_hours * problem.request.job.trials
    return usd


def mount_of(plan: PlannedRun, problem: Problem) -> Mount | None:
    """What a plan mounts, with its prices in the plan's zone; None where samples come from object storage."""
    if plan.decisions.load is None or problem.loading is None:
        return None
    zone = problem.tariffs.index(tariff_of(plan, problem))
    bought = [one for key, one in problem.loading.bought.items() if key[0] == zone and one is not None]
    found = {one.mount.name: one.mount for one in bought}
    return found.get(plan.decisions.load.mounted or "")


def mount_lines(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """The line of a finished plan, from its own sizes; none where nothing is mounted."""
    mount = mount_of(plan, problem)
    if mount is None or plan.decisions.load is None:
        return []
    made, hours, trials = plan.decisions.load, plan.time.expected_hours, problem.request.job.trials
    hourly = made.gb * mount.usd_gb_hour + made.paid_mb_s * (mount.usd_mb_s_hour or 0.0)
    hourly += made.paid_iops * mount.usd_iops_hour
    return [
        BillLine(
            dimension="storage",
            item=ITEM,
            kind="fixed",
            usd=made.units * hourly * hours * trials,
            basis=f"{mount.name}: {_parts(made, mount)} x {hours:.3f} h{runs(trials)}{told(mount.note)}",
        )
    ]


def _parts(made: LoadDecision, mount: Mount) -> str:
    """What is provisioned, at which price."""
    parts = [f"{made.gb:.4g} GB x {mount.usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month"]
    if made.paid_mb_s:
        month = (mount.usd_mb_s_hour or 0.0) * HOURS_PER_MONTH
        parts.append(f"{made.paid_mb_s:.4g} MB/s x {month:.4f} USD/month")
    if made.paid_iops:
        month = mount.usd_iops_hour * HOURS_PER_MONTH
        parts.append(f"{made.paid_iops:.4g} operations a second x {month:.4f} USD/month")
    text = " + ".join(parts)
    return text if made.units == 1 else f"{made.units} volumes x ({text})"
