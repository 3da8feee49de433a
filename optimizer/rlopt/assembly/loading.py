"""What was decided about loading, in the plan's words: the store, machines that prepare, what a step waits for."""

from __future__ import annotations

from rlopt.answers.plan import LoadDecision, PriceUsed, StageTime
from rlopt.pools.loading.pools import load_seconds, prepare_seconds, read_gb_s, samples_of
from rlopt.problem import Columns, Pools, Problem
from rlopt.problem.load_table import LoadTable
from rlopt.problem.tariff import CpuPool
from rlopt.units import HOURS_PER_MONTH, seconds_to_hours
from rlopt.words import COLOCATED, StageKind


def pool_of(columns: Columns, j: int, problem: Problem) -> tuple[Pools, int]:
    """The pool that trains in column ``j``: its table and row."""
    first = problem.colocated if columns.placement[j] == COLOCATED else problem.training
    return first, int(columns.train[j])


def preparation(columns: Columns, j: int, problem: Problem) -> CpuPool | None:
    """Machines that only prepare samples; None where there are none."""
    if problem.loading is None:
        return None
    pools, row = pool_of(columns, j, problem)
    return problem.loading.machines(int(pools.zone[row]), int(pools.load[row]))


def load(columns: Columns, j: int, problem: Problem) -> LoadDecision | None:
    """Store, preparation and stall of one column; None where no step reads samples."""
    if problem.loading is None:
        return None
    pools, row = pool_of(columns, j, problem)
    zone, option, nodes = int(pools.zone[row]), int(pools.load[row]), int(pools.nodes[row])
    read, prepared = problem.loading.split(option)
    bought = problem.loading.mounted(zone, option, nodes)
    machines = problem.loading.machines(zone, option)
    found = LoadDecision(
        store=problem.loading.reads[read].store,
        vcpus=problem.loading.vcpus[prepared],
        nodes=0 if machines is None else machines.nodes,
        stall_seconds=float(pools.stall_seconds[row]),
    )
    if bought is None:
        return found
    return found.model_copy(
        update={
            "mounted": bought.mount.name,
            "units": max(problem.loading.units(read, nodes), 1),
            "gb": bought.gb,
            "mb_s": bought.mb_s,
            "paid_mb_s": bought.paid_mb_s,
            "paid_iops": bought.paid_iops,
        }
    )


def stage(columns: Columns, j: int, problem: Problem, pool: str) -> list[StageTime]:
    """Seconds of loading, the part beside the step before told apart; nothing where no step reads samples."""
    if problem.loading is None:
        return []
    pools, row = pool_of(columns, j, problem)
    seconds, stall = float(pools.load_seconds[row]), float(pools.stall_seconds[row])
    return [
        StageTime(
            stage=StageKind.LOAD,
            pool=pool,
            seconds=seconds,
            hidden_seconds=seconds - stall,
            limited_by=_limited_by(pools, row, problem.loading),
        )
    ]


def _limited_by(pools: Pools, row: int, table: LoadTable) -> str:
    """Which of the two that go side by side takes longer: reading the samples, or preparing them."""
    one = pools.take(slice(row, row + 1))
    read, prepared = table.split(int(one.load[0]))
    samples = samples_of(table, one)[0]
    seconds = load_seconds(table, one, read_gb_s(table, one, read), prepared, samples)[0]
    preparing = prepare_seconds(table, one, prepared, samples)[0]
    return "preparing samples" if preparing >= seconds else "reading samples"


def notes(columns: Columns, j: int, problem: Problem) -> list[str]:
    """What a signer should know: stalls, prices that stand in, processors and samples that nobody states."""
    made = load(columns, j, problem)
    if made is None or problem.loading is None:
        return []
    pools, row = pool_of(columns, j, problem)
    offer, table, found = problem.market.offers[int(pools.offer[row])], problem.loading, []
    if made.stall_seconds > 0.0:
        share = made.stall_seconds / float(columns.step_seconds[j])
        found.append(f"GPUs wait {made.stall_seconds:.3g} s of each step for samples ({share:.0%} of it)")
    if table.vcpu_seconds and offer.shape.vcpus is None:
        found.append(f"{offer.id}: its virtual CPUs are not known, none of them are counted to prepare samples")
    first = _first_seconds(pools, row, table)
    if first and first >= float(pools.once.median[row]) * (1.0 - 1e-9):
        hours = seconds_to_hours(first)
        found.append(f"before the first step GPUs wait for stored samples, which take {hours:.3g} h to load")
    machines = preparation(columns, j, problem)
    if machines is not None and machines.note:
        found.append(machines.note)
    bought = table.mounted(int(pools.zone[row]), int(pools.load[row]), int(pools.nodes[row]))
    if bought is not None and bought.mount.note:
        found.append(bought.mount.note)
    return found


def _first_seconds(pools: Pools, row: int, table: LoadTable) -> float:
    """Seconds to load what is passed over before the first step."""
    one = pools.take(slice(row, row + 1))
    read, prepared = table.split(int(one.load[0]))
    return float(load_seconds(table, one, read_gb_s(table, one, read), prepared, samples_of(table, one)[1])[0])


def mount_prices(columns: Columns, j: int, problem: Problem) -> list[PriceUsed]:
    """What the mounted store's size, throughput and operations cost; nothing from object storage."""
    if problem.loading is None:
        return []
    pools, row = pool_of(columns, j, problem)
    bought = problem.loading.mounted(int(pools.zone[row]), int(pools.load[row]), int(pools.nodes[row]))
    if bought is None:
        return []
    mount = bought.mount
    parts = (
        (mount.usd_gb_hour, "USD/GB/month", True),
        (mount.usd_mb_s_hour or 0.0, "USD per MB/s and month", bought.paid_mb_s > 0.0),
        (mount.usd_iops_hour, "USD per operation a second and month", bought.paid_iops > 0.0),
    )
    return [
        PriceUsed(
            offer=mount.name,
            usd_per_hour=None,
            usd=hourly * HOURS_PER_MONTH,
            unit=unit,
            source=mount.source if unit == "USD/GB/month" else mount.speed.source,
            as_of=mount.as_of if unit == "USD/GB/month" else mount.speed.as_of,
        )
        for hourly, unit, paid in parts
        if paid
    ]
