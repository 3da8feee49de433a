"""Models, machines and layouts that the tests of the estimates share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rlopt.estimates import Calibration, Hardware, Layout, ModelShape, Tokens, Training
from rlopt.facts import Catalog, Model
from rlopt.facts.files.folder import load_catalog

FULL = Training("full")
DEGREES = ("tp", "pp", "vp", "dp", "cp", "ep", "etp", "sharding", "micro_batch", "recompute", "offload")


def catalog() -> Catalog:
    return load_catalog()


def calibration() -> Calibration:
    return load_catalog().calibration


@lru_cache(maxsize=64)
def shape(name: str) -> ModelShape:
    return ModelShape.of(load_catalog().models[name])


def gpt3() -> Model:
    """GPT-3 175B: 96 layers of width 12288 (Brown et al., 2020, table 2.1)."""
    return Model("GPT-3", "", 174.6e9, 174.6e9, 96, 12288, 96, 96, 128, 4 * 12288, False, 50257, tie_embeddings=True)


def layout(**degrees: int | list[int]) -> Layout:
    """One row, or several where a degree is a list; everything else 1 and nothing sharded, recomputed or offloaded."""
    plain: dict[str, int | list[int]] = dict.fromkeys(DEGREES, 1) | {
        "sharding": 0,
        "recompute": 0,
        "offload": 0,
    }
    values = np.broadcast_arrays(*[np.array(value, dtype=np.int64) for value in (plain | degrees).values()])
    return Layout(*(np.atleast_1d(value) for value in values))


def hardware(
    device: str = "H100-SXM",
    gpus: int = 8,
    intra: str = "nvswitch",
    gbps: float | None = 3200.0,
    rows: int = 1,
) -> Hardware:
    return Hardware.of([(load_catalog().devices[device], gpus, intra, gbps)] * rows, calibration())


def tokens(length: float = 2048.0, packed: bool = True) -> Tokens:
    """Sequences of one length."""
    return Tokens(length, length, length**2, packed)
