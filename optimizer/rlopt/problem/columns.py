"""Joint columns: complete ways to run the job, their hours and cost as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rlopt.table import Floats, Ints, Table


@dataclass(frozen=True, slots=True)
class Columns(Table):
    """Joint columns. All arrays have shape (columns,); pool indices are -1 where a column has no such pool.

    ``rollout2`` and ``score2`` are the second offers of mixed pools; ``split`` and ``score_split`` the share of the
    samples that the first offer takes.
    """

    placement: Ints
    zone: Ints
    variant: Ints
    train: Ints
    rollout: Ints
    rollout2: Ints
    score: Ints
    score2: Ints
    split: Floats
    score_split: Floats
    environment: Ints
    group_size: Ints
    steps: Ints
    update_precision: Ints
    score_precision: Ints
    """Rank of the least precision of all scoring passes."""
    staleness: Ints
    interval_steps: Ints
    tier: Ints
    recovery: Ints
    """Number of the way a run is kept alive, in `Problem.recovery_options`."""
    gpus: Ints
    """All of them, spare nodes included."""
    spare_gpus: Ints
    spot_gpus: Ints
    """Those at work, spare nodes left out."""
    nodes: Ints
    usd_per_hour: Floats
    """All machines with GPUs, spare nodes included."""
    spare_usd_per_hour: Floats
    committed_usd_per_hour: Floats
    """Part of ``usd_per_hour`` that reserved offers take."""
    committed_usd: Floats
    """What reserved offers bill over all trials, whole terms."""
    cpu_usd_per_hour: Floats
    mount_usd_per_hour: Floats
    """File system or volumes that the samples are read from."""
    disk_gb: Floats
    mixed_share: Floats
    """Least share of a mixed pool's throughput that no provider takes back; 1 where nothing is mixed."""
    once_hours: Floats
    """Failure-free hours of what runs once, before the first step."""
    step_seconds: Floats
    failure_free_hours: Floats
    expected_hours: Floats
    confident_hours: Floats
    """What the deadline is held against: waits and pilots that count within it are included."""
    failures_per_hour: Floats
    """Stops of the whole run."""
    lost_per_hour: Floats
    """Machines lost without a stop of the run."""
    faults_per_hour: Floats
    """Failures of machines, reclaims left out."""
    divergence_hours: Floats
    """Part of ``expected_hours`` that collapses of the training cost."""
    wait_hours: Floats
    """Longest wait for machines of any pool."""
    recovery_minutes: Floats
    usd: Floats

    def with_cost(self, usd: Floats) -> Columns:
        """The same columns with their total cost filled in."""
        return replace(self, usd=usd)
