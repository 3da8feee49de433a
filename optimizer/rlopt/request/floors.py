"""Floors: stability that is never traded for money. A floor that no file sets does not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rlopt.request.values.kinds import Name, PartShare, Share, Whole, WholeOrZero
from rlopt.request.values.model_size import ModelSize
from rlopt.request.values.quantities import Bandwidth, Pause
from rlopt.strict import Strict
from rlopt.words import DataPrecision, Precision

LARGEST_GROUP: Final = 100_000


class CheckpointFloors(Strict):
    """Copies that must exist, and how soon one must be back."""

    keep_recent: WholeOrZero | None = None
    """Resumable copies (weights and optimizer state) of the last saves."""
    keep_best: WholeOrZero | None = None
    """Weights of the best evaluations."""
    history_every: Whole | None = None
    """Steps between two kept copies of the weights; the interval of saves divides it."""
    recovery_time: Pause | None = None
    """Longest time to bring back a recent or best copy, in seconds."""


class CoreMetrics(Strict):
    """Series without which a run cannot be judged: reward, KL and loss."""

    every: Whole | None = None
    """Most steps between two of their points."""


class Floors(Strict):
    """What a plan must keep to."""

    group_size: Whole | None = None
    """Least samples per prompt (K)."""
    informative_groups: PartShare | None = None
    """Least share of groups with both right and wrong samples: 1 − p^K − (1−p)^K, with p = job.pass_rate."""
    samples_per_update: Whole | None = None
    """Least samples per policy update: prompts × K × (1 − filter.drop) / updates_per_step."""
    update_precision: Precision | None = None
    """Least precision of training: fp4 = int4 < fp8 = int8 < fp16 = bf16 < fp32."""
    score_precision: Precision | None = None
    """Least precision of scoring passes, in the same order."""
    data_precision: DataPrecision | None = None
    """Least precision of stored data: jpeg75 < jpeg90 < jpeg95 < bf16 < source."""
    on_demand_share: Share | None = None
    """Least share of on-demand or reserved GPUs, of the plan and of each mixed pool's throughput."""
    max_staleness: WholeOrZero | None = None
    """Most steps that samples may lag behind; 0 forbids async."""
    checkpoints: CheckpointFloors = CheckpointFloors()
    """Copies and recovery."""
    core_metrics: CoreMetrics = CoreMetrics()
    """How often reward, KL and loss must be written."""
    text_log_rate: Share | None = None
    """Least share of samples whose full transcript is logged."""
    free_storage: PartShare | None = None
    """Least free share: storage bought = peak use / (1 − share)."""
    reward_quality: Share | None = None
    """Least stated accuracy of the reward model."""
    value_bins: Whole | None = None
    """Least bins of the value model (vla)."""
    value_params: ModelSize | None = None
    """Least weights that a value passes through (vla): the value model's, a shared backbone's among them."""
    replay_buffer: WholeOrZero | None = None
    """Least trajectories held for replay (vla)."""
    simulator_bandwidth: Bandwidth | None = None
    """Least bandwidth between simulators and trainer, in bits per second."""
    because: Name | None = None
    """Why floors of a preset are loosened, for all of them."""


def _rank(value: Any) -> float:
    return float(Precision(value).rank)


def _data_rank(value: Any) -> float:
    return float(DataPrecision(value).rank)


def _plain(value: Any) -> float:
    return float(value)


def _falling(value: Any) -> float:
    return -float(value)


TIGHTNESS: Final[Mapping[str, Callable[[Any], float]]] = {
    "group_size": _plain,
    "informative_groups": _plain,
    "samples_per_update": _plain,
    "update_precision": _rank,
    "score_precision": _rank,
    "data_precision": _data_rank,
    "on_demand_share": _plain,
    "max_staleness": _falling,
    "checkpoints.keep_recent": _plain,
    "checkpoints.keep_best": _plain,
    "checkpoints.history_every": _falling,
    "checkpoints.recovery_time": _falling,
    "core_metrics.every": _falling,
    "text_log_rate": _plain,
    "free_storage": _plain,
    "reward_quality": _plain,
    "value_bins": _plain,
    "value_params": _plain,
    "replay_buffer": _plain,
    "simulator_bandwidth": _plain,
}
"""Each floor's value to a number that grows as the floor gets tighter."""
FLOOR_GROUPS: Final = tuple(dict.fromkeys(floor.partition(".")[0] for floor in TIGHTNESS if "." in floor))
"""Floors that are maps of floors."""


def informative_group_size(pass_rate: float, share: float) -> int | None:
    """Smallest K for which at least `share` of the groups hold both right and wrong samples.

    1 − p^K − (1−p)^K ≥ share, the chance that K independent samples of success probability p disagree.

    Parameters
    ----------
    pass_rate
        p, strictly between 0 and 1.
    share
        Between 0 and 1, 1 excluded.

    Returns
    -------
    int or None
        None where no group of up to 100,000 samples is enough.
    """

    def enough(size: int) -> bool:
        return 1.0 - pass_rate**size - (1.0 - pass_rate) ** size >= share

    low, high = 1, 1
    while not enough(high):
        low, high = high, high * 2
        if low > LARGEST_GROUP:
            return None
    while high - low > 1:  # the share of disagreeing groups grows with K
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return 1 if enough(1) else high if high <= LARGEST_GROUP else None
