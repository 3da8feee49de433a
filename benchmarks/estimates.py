"""Rows per second of the estimates, on one thread and on two: `python benchmarks/estimates.py [rows of a chunk]`.

Rows mix tensor, pipeline and data parallel degrees, sharding, micro-batches and recomputation on H100 nodes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "optimizer"))

import numpy as np

from rlopt.estimates import (
    Hardware,
    Layout,
    ModelShape,
    Tokens,
    Training,
    forward_parts,
    forward_seconds,
    generation_seconds,
    update_parts,
    update_seconds,
)
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch
from rlopt.estimates.training.worker import Worker
from rlopt.facts.files.folder import load_catalog

MODELS = ("Meta-Llama-3.1-8B", "DeepSeek-V3")
REPEATS = 5
CHUNKS = 16
"""Chunks of one run; a chunk's arrays stay in the cache."""


def rows(count: int, moe: bool) -> Layout:
    """`count` layouts of 64 GPUs, drawn from a fixed seed."""
    draw = np.random.default_rng(0)
    tp, pp = 2 ** draw.integers(0, 4, count), 2 ** draw.integers(0, 3, count)
    dp = 64 // (tp * pp)
    one = np.ones_like(tp)
    sharding = np.where(pp == 1, draw.choice([1, 3], count), 1)
    ep = np.where(moe & (sharding == 1), np.minimum(8, dp * tp), one)
    return Layout(tp, pp, one, dp, one, ep, one, sharding, 2 ** draw.integers(0, 4, count),
                  draw.integers(0, 3, count), 0 * one)  # fmt: skip


def fastest(work: Callable[[], object], threads: int) -> float:
    """Seconds a chunk takes when ``threads`` threads share CHUNKS of them: the quickest of a few runs."""
    found = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(REPEATS):
            start = time.perf_counter()
            list(pool.map(lambda _: work(), range(CHUNKS)))
            found.append((time.perf_counter() - start) / CHUNKS)
    return min(found)


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 16_384
    catalog, calibration = load_catalog(), load_catalog().calibration
    tokens, training = Tokens.of(160.0, 512.0, 900.0, 3584.0, True), Training("full", in_loop=True)
    print(f"{'model':<20}{'estimate':<12}{'rows/s, one thread':>20}{'two threads':>14}")
    for name in MODELS:
        shape = ModelShape.of(catalog.models[name])
        hardware = Hardware.of([(catalog.devices["H100-SXM"], 8, "nvswitch", 3200.0)], calibration).take(
            np.zeros(count, dtype=int)
        )
        layout = rows(count, shape.moe)
        room, share = np.full(count, 40.0), np.full(count, 64.0)

        def memory(shape: ModelShape = shape, layout: Layout = layout) -> object:
            worker, scorer = (Worker.planned(shape, one, layout, "bf16", calibration) for one in (training, None))
            return update_parts(worker, tokens).total(), forward_parts(scorer, tokens).total()

        def update(shape: ModelShape = shape, layout: Layout = layout, hardware: Hardware = hardware) -> object:
            return update_seconds(
                Worker.planned(shape, training, layout, "bf16", calibration), hardware, tokens, 2048.0, 4
            )

        def forward(shape: ModelShape = shape, layout: Layout = layout, hardware: Hardware = hardware) -> object:
            return forward_seconds(Worker.planned(shape, None, layout, "bf16", calibration), hardware, tokens, 2048.0)

        def generation(shape: ModelShape = shape, layout: Layout = layout, hardware: Hardware = hardware,
                       room: np.ndarray = room, share: np.ndarray = share) -> object:  # fmt: skip
            replica = Replica.planned(shape, hardware, layout.tp, "bf16", calibration)
            return generation_seconds(replica, room, Batch((160.0, 512.0), (900.0, 3584.0), share, 2048.0, 32), True)

        for kind, work in (("memory", memory), ("update", update), ("forward", forward), ("generation", generation)):
            one, two = (count / fastest(work, threads) for threads in (1, 2))
            print(f"{name:<20}{kind:<12}{one:>20,.0f}{two:>14,.0f}")


if __name__ == "__main__":
    main()
