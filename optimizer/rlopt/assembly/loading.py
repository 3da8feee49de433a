"""What was decided about loading, in the plan's words: the store, machines that prepare, what a step waits for."""

from __future__ import annotations

from rlopt.answers.plan import LoadDecision, PriceUsed, StageTime
from rlopt.assembly.chosen import ChosenColumn
from rlopt.pools.loading.pools import load_seconds, prepare_seconds, read_gb_s, samples_of
from rlopt.problem import Pools
from rlopt.problem.loading import LoadTable
from rlopt.problem.tariff import CpuPool
from rlopt.units import HOURS_PER_MONTH, seconds_to_hours
from rlopt.words import StageKind


def preparation(chosen: ChosenColumn) -> CpuPool | None:
    """Machines that only prepare samples; None where there are none."""
    table = chosen.problem.loading
    if table is None:
        return None
    pools, row = chosen.rows[0]
    return table.machines(int(pools.zone[row]), int(pools.load[row]))


def load(chosen: ChosenColumn) -> LoadDecision | None:
    """Store, preparation and stall of one column; None where no step reads samples."""
    table = chosen.problem.loading
    if table is None:
        return None
    pools, row = chosen.rows[0]
    zone, option, nodes = int(pools.zone[row]), int(pools.load[row]), int(pools.nodes[row])
    read, prepared = table.split(option)
    bought = table.mounted(zone, option, nodes)
    machines = table.machines(zone, option)
    mounted = (
        {}
        if bought is None
        else {
            "mounted": bought.mount.name,
            "units": max(table.units(read, nodes), 1),
            "gb": bought.gb,
            "mb_s": bought.mb_s,
            "paid_mb_s": bought.paid_mb_s,
            "paid_iops": bought.paid_iops,
        }
    )
    return LoadDecision(
        store=table.reads[read].store,
        vcpus=table.vcpus[prepared],
        nodes=0 if machines is None else machines.nodes,
        stall_seconds=float(pools.stall_seconds[row]),
        **mounted,
    )


def stage(chosen: ChosenColumn, pool: str) -> list[StageTime]:
    """Seconds of loading, the part beside the step before told apart; nothing where no step reads samples."""
    table = chosen.problem.loading
    if table is None:
        return []
    pools, row = chosen.rows[0]
    seconds, stall = float(pools.load_seconds[row]), float(pools.stall_seconds[row])
    return [
        StageTime(
            stage=StageKind.LOAD,
            pool=pool,
            seconds=seconds,
            hidden_seconds=seconds - stall,
            limited_by=_limited_by(pools, row, table),
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


def notes(chosen: ChosenColumn) -> list[str]:
    """What a signer should know: stalls, prices that stand in, processors and samples that nobody states."""
    made, table = load(chosen), chosen.problem.loading
    if made is None or table is None:
        return []
    pools, row = chosen.rows[0]
    offer, found = chosen.problem.market.offers[int(pools.offer[row])], list[str]()
    if made.stall_seconds > 0.0:
        share = made.stall_seconds / float(chosen.column.step_seconds[0])
        found.append(f"GPUs wait {made.stall_seconds:.3g} s of each step for samples ({share:.0%} of it)")
    if table.vcpu_seconds and offer.shape.vcpus is None:
        found.append(f"{offer.id}: its virtual CPUs are not known, none of them are counted to prepare samples")
    first = _first_seconds(pools, row, table)
    if first and first >= float(pools.once.median[row]) * (1.0 - 1e-9):
        hours = seconds_to_hours(first)
        found.append(f"before the first step GPUs wait for stored samples, which take {hours:.3g} h to load")
    machines = preparation(chosen)
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


def mount_prices(chosen: ChosenColumn) -> list[PriceUsed]:
    """What the mounted store's size, throughput and operations cost; nothing from object storage."""
    table = chosen.problem.loading
    if table is None:
        return []
    pools, row = chosen.rows[0]
    bought = table.mounted(int(pools.zone[row]), int(pools.load[row]), int(pools.nodes[row]))
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
