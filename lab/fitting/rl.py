"""The study of sampling loops: published steps, and which constants of the loop they may move.

The stages are the planner's estimates of training and serving under the calibration at hand and stay as they are;
fits move what loops add to them. Fit the other rooms first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lab.fitting.prior import Prior
from lab.fitting.published import dropped, published, source_weights
from rlopt.estimates import Calibration
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study
from rlopt.fitting.observations import of_loops
from rlopt.measured.loop.rows import RATE, STEP
from rlopt.measured.rows import MeasuredRow

FILE = "rl.csv"
GUESSED = 0.5
"""Weight of a row whose mean response length is a guess."""
FRAMEWORKS = ("rl", "frameworks")


def measured_rows() -> list[MeasuredRow]:
    """Every row with the time or the rate of a step, asked for it."""
    rows = published(FILE)
    asked = [(row, next((name for name in (STEP, RATE) if row.number(name)), "")) for row in rows]
    return [row.asking(quantity) for row, quantity in asked if quantity]


def study(catalog: Catalog, calibration: Calibration) -> Study:
    """Loops that fits see; trainers of RL files are the training study's matter."""
    found = of_loops([row for row in measured_rows() if row.id not in dropped("rl")], catalog, calibration)
    stated = np.array([length == "stated" for length in found.labels["lengths"]])
    weights = source_weights(found.labels["source"]) * np.where(stated, 1.0, GUESSED)
    return replace(found, weights=weights, parameters=PARAMETERS)


def _of(framework: str, key: str, prior: Prior, toward: str = "") -> Parameter:
    """A constant of a framework's row, shrunk towards its centre or towards the row ``toward``."""
    parent = (*FRAMEWORKS, toward, key) if toward else None
    return replace(prior.of(*FRAMEWORKS, framework, key), toward=parent)


PARAMETERS = (
    _of("nemo-rl", "train", Prior(1.2, 0.5, 4.0, 0.4)),
    _of("nemo-rl-0.4", "train", Prior(1.2, 0.5, 4.0, 0.1), "nemo-rl"),
    _of("nemo-rl-0.4", "sample", Prior(1.0, 0.7, 1.6, 0.1)),
    _of("verl-fsdp", "train", Prior(1.2, 0.3, 4.0, 0.3), "nemo-rl"),
    _of("verl-megatron", "train", Prior(1.2, 0.3, 4.0, 0.3), "verl-fsdp"),
    _of("verl-async", "train", Prior(1.0, 0.2, 4.0, 0.4), "verl-fsdp"),
    _of("easyr1", "train", Prior(1.2, 0.3, 4.0, 0.25), "verl-fsdp"),
    _of("deepspeed-chat-2023", "train", Prior(1.5, 0.5, 6.0, 0.7)),
    _of("verl-fsdp", "sample", Prior(1.2, 0.6, 3.0, 0.3)),
    _of("deepspeed-chat-2023", "sample", Prior(1.5, 0.5, 8.0, 0.7)),
    _of("deepspeed-chat-2023", "pressure", Prior(0.2, 0.01, 2.0, 0.7)),
    _of("deepspeed-chat-2023", "step_s", Prior(2.0, 0.1, 10.0, 0.7)),
    _of("nemo-rl", "tail", Prior(0.3, 0.01, 1.0, 0.5)),
    _of("verl-fsdp", "tail", Prior(0.1, 0.01, 1.0, 0.7)),
    _of("nemo-rl", "step_s", Prior(5.0, 1.0, 20.0, 0.5)),
    _of("nemo-rl", "switch_s", Prior(8.0, 1.0, 40.0, 0.5)),
    _of("easyr1", "images_s", Prior(37.0, 1.0, 150.0, 0.5)),
    Prior(1.3, 0.7, 5.0, 0.4).of("rl", "moe_train"),
    Prior(1.4, 0.7, 4.0, 0.4).of("rl", "generation_train", "Blackwell"),
    Prior(1.0, 0.5, 3.0, 0.3).of("rl", "generation_train", "CDNA"),
    Prior(1.0, 0.5, 3.0, 0.2).of("rl", "generation_moe_train", "Blackwell"),
    Prior(1.0, 0.5, 3.0, 0.2).of("rl", "generation_sample", "Blackwell"),
    Prior(1.0, 0.5, 3.0, 0.2).of("rl", "generation_sample", "CDNA"),
    Prior(0.11, 0.01, 1.0, 0.4).of("rl", "exposed_share"),
    Prior(1.0, 0.6, 2.0, 0.2).of("generation", "rl_factor"),
    Prior(1.1, 0.7, 3.0, 0.15).of("generation", "rl_moe_factor"),
    Prior(30.0, 1.0, 300.0, 0.7).of("rl", "narrow_expert"),
)
