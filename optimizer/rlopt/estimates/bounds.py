"""Physical bounds of the constants that a user's own timings may move.

A factor on a stage's seconds may not say that the stage runs many times faster than kernels alone were measured to
run; shares lie in (0, 1]; rates and fixed seconds are those of wires and of software. What no row names may be
a factor of `WIDEST` off the shipped value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WIDEST: Final = 20.0
ANY: Final = "*"
BOUNDS: Final[tuple[tuple[tuple[str, ...], float, float], ...]] = (
    (("rl", "frameworks", ANY, "train"), 0.3, 8.0),
    (("rl", "frameworks", ANY, "sample"), 0.3, 8.0),
    (("rl", "frameworks", ANY, "pressure"), 0.0, 2.0),
    (("rl", "frameworks", ANY, "tail"), 0.0, 1.0),
    (("rl", "frameworks", ANY, "step_s"), 0.01, 600.0),
    (("rl", "frameworks", ANY, "switch_s"), 0.0, 600.0),
    (("rl", "frameworks", ANY, "images_s"), 0.0, 600.0),
    (("rl", "generation_train", ANY), 0.4, 4.0),
    (("rl", "generation_moe_train", ANY), 0.4, 4.0),
    (("rl", "generation_sample", ANY), 0.4, 4.0),
    (("rl", "moe_train"), 0.4, 5.0),
    (("rl", "score_train"), 0.3, 3.0),
    (("rl", "exposed_share"), 0.01, 1.0),
    (("rl", "transports", ANY, "fixed_s"), 0.0, 600.0),
    (("rl", "transports", ANY, "gb_s"), 0.02, 2000.0),
    (("training", "engine_factor", ANY), 0.5, 8.0),
    (("training", "device_factor", ANY), 0.5, 4.0),
    (("training", "gemm_ceiling", ANY), 0.02, 1.0),
    (("training", "attention_share", ANY, ANY), 0.02, 1.0),
    (("generation", "engines", ANY, "device_factor"), 0.4, 8.0),
    (("generation", "effects", "device", ANY), 0.4, 4.0),
    (("generation", "weight_bandwidth", ANY), 0.05, 1.0),
    (("generation", "kv_bandwidth", ANY), 0.05, 1.0),
    (("generation", "flops_16", ANY), 0.02, 1.0),
    (("generation", "flops_8", ANY), 0.02, 1.0),
    (("generation", "flops_4", ANY), 0.02, 1.0),
    (("links", ANY), 1e-9, 1.0),
    (("bands", "own", ANY, ANY), 0.0, 2.0),
)
"""Path with stars, least, most; the first match counts."""


def bounds_of(path: Sequence[str], shipped: float | None) -> tuple[float, float]:
    """Least and most that a constant may be; ``shipped`` is its value now, None where it has none."""
    for pattern, low, high in BOUNDS:
        if len(pattern) == len(path) and all(one in (ANY, name) for one, name in zip(pattern, path, strict=True)):
            return low, high
    if shipped is None or shipped <= 0.0:
        return 0.0, float("inf")
    return shipped / WIDEST, shipped * WIDEST
