"""Every parallel layout that a training pool of a given size may take.

Degrees follow the launchers: tp within a node and dividing the attention heads, pp and cp powers of two,
dp what is left, ep dividing the experts; ZeRO-3 (FSDP) without pipeline stages, ZeRO-1 with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rlopt.estimates import Layout
from rlopt.facts import Model

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MICRO_BATCHES = (1, 2, 4, 8, 16)
LONGEST_MICRO_BATCH_TOKENS = 65536
"""A micro-batch above this many tokens gains nothing measurable: kernels are saturated an order below it."""
CONTEXT_SPLIT_TOKENS = 4096
"""Context parallelism leaves each rank at least this many tokens of the longest sequence."""
ZERO1, ZERO3 = 1, 3


@dataclass(frozen=True, slots=True)
class LayoutSpace:
    """What bounds the layouts of a job: model shape and sequence counts (only the numbers that matter)."""

    heads: int
    layers: int
    experts: int
    longest_tokens: int
    sequences: int
    """Most sequences of one optimizer update."""

    @staticmethod
    def of(model: Model, longest_tokens: float, sequences: float) -> LayoutSpace:
        """Bounds for training ``model`` on sequences of at most ``longest_tokens``."""
        return LayoutSpace(model.heads, model.layers, model.experts, int(longest_tokens), max(1, int(sequences)))


def node_counts(most: int) -> tuple[int, ...]:
    """Node counts a pool is searched at: every one to 16, then ever coarser.

    A larger limit only ever adds counts, so that more GPUs allowed never make a plan dearer.
    """
    grid = [
        n for n in range(1, most + 1) if n <= 16 or (n <= 32 and n % 2 == 0) or (n <= 64 and n % 4 == 0) or n % 8 == 0
    ]
    return tuple(grid)


@lru_cache(maxsize=4096)
def layouts(gpus: int, gpus_per_node: int, space: LayoutSpace) -> Layout:
    """All layouts of ``gpus`` GPUs before recomputation and offload are chosen (both 0 here)."""
    rows: list[tuple[int, ...]] = []
    batches = [
        mb
        for mb in MICRO_BATCHES
        if mb == 1 or (mb * space.longest_tokens <= LONGEST_MICRO_BATCH_TOKENS and mb <= space.sequences)
    ]
    for tp in (t for t in POWERS if t <= min(gpus_per_node, 8) and space.heads % t == 0):
        for pp in (p for p in POWERS if p <= min(space.layers, 32) and gpus % (tp * p) == 0):
            for cp in (
                c
                for c in POWERS
                if c == 1
                or (c <= 16 and space.longest_tokens >= c * CONTEXT_SPLIT_TOKENS and gpus % (tp * pp * c) == 0)
            ):
                dp = gpus // (tp * pp * cp)
                if dp > space.sequences:
                    continue
                rows += _shardings(tp, pp, cp, dp, batches, space)
    table = np.array(rows, dtype=np.int64).reshape(-1, 8).T
    tp_, pp_, vp_, dp_, cp_, ep_, sharding, micro = table
    one, zero = np.ones_like(tp_), np.zeros_like(tp_)
    return Layout(
        tp=tp_,
        pp=pp_,
        vp=vp_,
        dp=dp_,
        cp=cp_,
        ep=ep_,
        etp=one,
        sharding=sharding,
        micro_batch=micro,
        recompute=zero,
        offload=zero,
    )


def _shardings(tp: int, pp: int, cp: int, dp: int, batches: list[int], space: LayoutSpace) -> list[tuple[int, ...]]:
    rows: list[tuple[int, ...]] = []
    for vp in (1, 2) if pp > 1 and space.layers % (2 * pp) == 0 else (1,):
        for ep in (
            e for e in POWERS if e == 1 or (space.experts and space.experts % e == 0 and (dp * cp * tp) % e == 0)
        ):
            rows += [(tp, pp, vp, dp, cp, ep, ZERO1, mb) for mb in batches]
    if pp == 1 and dp * cp > 1:
        rows += [(tp, pp, 1, dp, cp, 1, ZERO3, mb) for mb in batches]
    return rows
