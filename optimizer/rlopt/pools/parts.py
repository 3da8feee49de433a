"""The parts of a step: what trains, what samples and what scores, as tables of estimates and as priced pools."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from rlopt.pools.builder import Builder, Setting, join_pools
from rlopt.pools.context import Context
from rlopt.pools.sampling.table import SamplingTable, sampling_tables
from rlopt.pools.scoring.table import ScoringTable, scoring_key, scoring_tables
from rlopt.pools.training.table import TrainingTable, training_tables
from rlopt.problem import Floats, Ints, Pools
from rlopt.problem.fixed import Fixed
from rlopt.words import Placement
from rlopt.workloads.variants import Variant


@dataclass(frozen=True, slots=True)
class PartTables:
    """Tables by part, each with the inputs that it was estimated with."""

    training: Sequence[tuple[Context, TrainingTable]]
    serving: Sequence[Sequence[int]]
    """Training tables that a variant may run on, by variant."""
    sampling: Mapping[int, tuple[Context, SamplingTable]]
    """By the first variant that samples so."""
    scoring: Mapping[Hashable, tuple[Context, ScoringTable]]
    """By `scoring_key`."""

    @property
    def every(self) -> list[TrainingTable | ScoringTable | SamplingTable]:
        """All of them."""
        found = list[TrainingTable | ScoringTable | SamplingTable](table for _, table in self.training)
        found += [table for _, table in self.scoring.values()]
        return found + [table for _, table in self.sampling.values()]

    @property
    def training_contexts(self) -> dict[int, Context]:
        """What each variant trains with, of those that can."""
        return {number: self.training[at[0]][0] for number, at in enumerate(self.serving) if at}

    def tried(self, sizes: int) -> int:
        """Candidates that were estimated, of ``sizes`` group sizes; those that sample in step and out of step."""
        return (
            sum(table.tried for _, table in self.training) * sizes
            + sum(table.tried for _, table in self.scoring.values())
            + sum(table.tried * 2 for _, table in self.sampling.values())
        )

    def kept(self, held: Fixed) -> PartTables:
        """The rows alone that are ``held``."""
        training, sampling = held.training, held.sampling

        def gpus(context: Context, table: TrainingTable | SamplingTable) -> Ints:
            return (table.nodes * context.hardware.gpus_per_node[table.topology]).astype(int)

        return replace(
            self,
            training=[
                (here, table.take(training.kept(table.layout, table.nodes, gpus(here, table))))
                for here, table in self.training
            ],
            sampling={
                number: (here, table.take(sampling.kept(table.tp, table.ep, table.nodes, gpus(here, table))))
                for number, (here, table) in self.sampling.items()
            },
        )


def tables_by_part(context: Context, variants: Sequence[Variant], apart: bool) -> PartTables:
    """Everything estimated; ``apart``: whether pools may stand beside the one that trains."""
    sampling = sampling_tables(context, variants, apart) if context.workload.generates else {}
    return PartTables(*training_tables(context, variants), sampling, scoring_tables(context, variants) if apart else {})


@dataclass(frozen=True, slots=True)
class PartPools:
    """Priced pools by part; ``colocated`` ones train and, where the job samples, sample in turn."""

    training: Pools
    colocated: Pools
    rollout: Pools
    scoring: Pools


def pools_by_part(
    builder: Builder, tables: PartTables, variants: Sequence[Variant], apart: bool, scoring_rates: Floats
) -> PartPools:
    """The best rows of every table with each offer's price, for all ways to run the job.

    ``scoring_rates``: USD per hour of machines without GPUs that score, shape (zones, variants).
    """
    training, colocated, scoring, rollout = list[Pools](), list[Pools](), list[Pools](), list[Pools]()
    for number, variant in enumerate(variants):
        for at in tables.serving[number]:
            here, table = tables.training[at]
            for way in _settings(number, variant, table.update_precision, scoring_rates):
                if not here.workload.generates:
                    colocated.append(builder.training(at, here, table, way, alone=True))
                elif Placement.COLOCATED in here.request.placements and variant.runs_colocated:
                    colocated.append(builder.colocated(at, here, table, way))
                if apart and variant.runs_apart:
                    training.append(builder.training(at, here, table, way, alone=False))
    keys = list(tables.scoring)
    for number, variant in enumerate(variants):
        if variant.own and scoring_key(variant) in tables.scoring:  # none without any offer
            at = keys.index(scoring_key(variant))
            here, passes = tables.scoring[keys[at]]
            scoring += [builder.scoring(at, here, passes, size, number) for size in variant.steps]
    if apart:
        context = builder.context
        ways = [(size, option) for size in context.sizes for option in range(len(context.instances))]
        for at, (number, (here, found)) in enumerate(tables.sampling.items()):
            rollout += [builder.rollout(at, here, found, number, *way) for way in ways]
    return PartPools(join_pools(training), join_pools(colocated), join_pools(rollout), join_pools(scoring))


def _settings(number: int, variant: Variant, precision: str, scoring_rates: Floats) -> list[Setting]:
    """One variant at each of its group sizes."""
    found = [Setting(number, size, steps, precision) for size, steps in variant.steps.items()]
    if variant.cpu is None:
        return found
    seconds = [variant.cpu.seconds(variant.workload, way.size) for way in found]
    usd = scoring_rates[:, number]
    return [replace(way, cpu_seconds=s, cpu_usd_per_hour=usd) for way, s in zip(found, seconds, strict=True)]
