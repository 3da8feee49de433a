"""One configuration's step as its constants make it: the stages that a log times, under any calibration.

    update, score = planned x loop_factors x engine_factor x device_factor
    sample        = planned x sample_factor, and what it takes to bring new weights to few bits
    rest          = planned + what sleep, wake, transfers and the driver change

The planned seconds come from a whole plan of the configuration, the factors from the estimates' own functions: exact
for the constants that are moved here, so that no plan has to be built anew for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Calibration, ModelShape
from rlopt.estimates.arrays import Ints
from rlopt.estimates.codes import GENERATIONS
from rlopt.estimates.loop.step import loop_factors, quantise_seconds, sample_factor
from rlopt.estimates.loop.transfer import (
    colocated_fixed_s,
    disaggregated_fixed_s,
    planned_framework,
    step_overhead_seconds,
    step_seconds,
)
from rlopt.words import Placement

GENERATE, SCORE, UPDATE, HAND_OVER, REST, OVERHEAD, STEP = (
    "generate", "score", "update", "hand over weights", "rest", "overhead", "step",
)  # fmt: skip
"""Stages; what is left of a step is the rest beside a timed hand-over of weights, and the overhead with it."""


@dataclass(frozen=True, slots=True)
class UserRun:
    """Seconds of a configuration's step under ``base``, by stage, and what decides how constants change them.

    Parameters
    ----------
    base
        The calibration that the seconds were planned with; ``rl.framework`` names the loop's.
    placement
        colocated | disaggregated | async; '' where nothing is sampled.
    update, score, sample
        Seconds of the stages.
    step
        Seconds of the whole step.
    world
        Part of ``sample`` that the environment takes.
    moe
        Whether experts are trained.
    moved
        The policy by the weights that travel to the engine.
    trains, samples
        GPU types, and ``generations`` theirs.
    engine
        Family of the training stack.
    low
        Whether the engine holds weights in less than 16 bits, to which they are brought on the way.
    link
        Seconds that the pool that trains and the one that samples wait longer for weights than the framework's
        transport takes, because the link between them is slower.
    """

    base: Calibration
    placement: str
    update: float
    score: float
    sample: float
    step: float
    world: float
    moe: bool
    moved: ModelShape
    trains: str
    samples: str
    generations: tuple[str, str]
    engine: str
    low: bool = False
    link: tuple[float, float] = (0.0, 0.0)

    @property
    def loop(self) -> bool:
        """Whether the job samples."""
        return bool(self.placement)

    @property
    def framework(self) -> str:
        """Row of the frameworks that the loop counts with."""
        return str(self.base.rl["framework"])

    @property
    def kind(self) -> str:
        """Which error band holds."""
        return "rl" if self.loop else "training"

    def predicted(self, calibration: Calibration) -> dict[str, float]:
        """Seconds by stage; of asynchronous runs sampling is not what a log times, and of training runs the step is."""
        trained = self._trained(calibration)
        update, score = self.update * trained[0], self.score * trained[1]
        if not self.loop:
            other = self.step - self.update - self.score
            return {UPDATE: update, SCORE: score, STEP: update + score + other}
        beside = self.world + self._quantised(self.base)
        sample = self.world + self._quantised(calibration) + (self.sample - beside) * self._sampled(calibration)
        over, exposed = self._overhead(calibration), calibration.value("rl", "exposed_share")
        train, beside = update + score + self.link[0], sample + self.link[1]
        whole = float(step_seconds(train, beside, over, self.placement == Placement.ASYNC, exposed))
        hand = self._hand_over(calibration)
        stages = {GENERATE: sample, SCORE: score, UPDATE: update, HAND_OVER: hand + max(self.link)}
        waits = sum(self.link)
        return stages | {REST: over + waits - stages[HAND_OVER], OVERHEAD: over + waits, STEP: whole}

    def _trained(self, calibration: Calibration) -> tuple[float, float]:
        update, score = (new / old for new, old in zip(self._pace(calibration), self._pace(self.base), strict=True))
        return update, score

    def _pace(self, calibration: Calibration) -> tuple[float, float]:
        stack = float(calibration.by_engine("training", "engine_factor", self._index(calibration))[0])
        slower = stack * float(calibration.training["device_factor"].get(self.trains, 1.0))
        if not self.loop:
            return slower, slower
        generation = np.array([GENERATIONS.index(self.generations[0])])
        factors = loop_factors(planned_framework(calibration), generation, np.array([self.moe]), calibration)
        return slower * float(factors[0][0]), slower * float(factors[1][0])

    def _index(self, calibration: Calibration) -> Ints:
        return np.array([calibration.engine(self.engine)])

    def _sampled(self, calibration: Calibration) -> float:
        generation = np.array([GENERATIONS.index(self.generations[1])])
        new, old = (sample_factor(planned_framework(one), generation, one)[0] for one in (calibration, self.base))
        return float(new / old)

    def _quantised(self, calibration: Calibration) -> float:
        if not self.low:
            return 0.0
        colocated = np.array([self.placement == Placement.COLOCATED])
        seconds = quantise_seconds(planned_framework(calibration), self.moved.params, colocated, calibration)
        return float(seconds[0])

    def _overhead(self, calibration: Calibration) -> float:
        exposed = self.base.value("rl", "exposed_share")
        train, sample = self.update + self.score + self.link[0], self.sample + self.link[1]
        stages = float(step_seconds(train, sample, 0.0, self.placement == Placement.ASYNC, exposed))
        return self.step - stages + self._fixed(calibration) - self._fixed(self.base)

    def _fixed(self, calibration: Calibration) -> float:
        fixed = colocated_fixed_s if self.placement == Placement.COLOCATED else disaggregated_fixed_s
        return fixed(self.moved, calibration)

    def _hand_over(self, calibration: Calibration) -> float:
        return self._fixed(calibration) - step_overhead_seconds(calibration)
