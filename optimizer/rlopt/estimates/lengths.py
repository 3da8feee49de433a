"""How long sequences are: a lognormal length, cut at its maximum.

The default distribution between a mean m and a maximum M is a lognormal whose coefficient of variation before
the cut is 0.8; everything longer than M is cut to M, and the scale is solved so that the mean after the cut
is m. Both figures of the request are honoured. Lengths of 0.7 to 1.0 fit published bursts and RL steps
equally well; one length for all, or a cut at M for all, do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

CV = 0.8
"""Default coefficient of variation where no calibration is at hand (its ``length_cv`` is the same)."""
_NORMAL = NormalDist()
_BISECTIONS = 60
LEAST_CV, MOST_CV = 0.02, 5.0
"""Spreads between which the one that meets a 99th percentile is sought."""


@dataclass(frozen=True, slots=True)
class CutLognormal:
    """Lengths exp(mu + s Z), cut at ``longest`` (tokens); ``s`` 0 means every length is ``longest``."""

    mu: float
    s: float
    longest: float

    @staticmethod
    def of(mean: float, longest: float, cv: float = CV, p99: float | None = None) -> CutLognormal:
        """The one whose mean after the cut is ``mean``; all lengths equal where mean and maximum are.

        Where the 99th percentile is known, the coefficient of variation follows from it instead of ``cv``,
        within `LEAST_CV` and `MOST_CV`.
        """
        if p99 is None or not mean < p99 < longest:
            return _solve(float(mean), float(longest), float(cv))
        return _solve_p99(float(mean), float(longest), float(p99))

    def survival(self, length: float) -> float:
        """Share of sequences longer than ``length``, just below the cut at the maximum."""
        if length >= self.longest:
            return 0.0
        if self.s == 0.0 or length <= 0.0:
            return 1.0
        return 1.0 - _NORMAL.cdf((math.log(length) - self.mu) / self.s)

    def quantile(self, share: float) -> float:
        """Length that ``share`` of the sequences stay below."""
        if self.s == 0.0:
            return self.longest
        return min(self.longest, math.exp(self.mu + self.s * _NORMAL.inv_cdf(share)))

    def expected_longest(self, samples: float) -> float:
        """Length of the longest of ``samples`` sequences: the quantile n / (n + 1)."""
        return self.quantile(samples / (samples + 1.0))

    def moment(self, order: int) -> float:
        """Mean of length ** order: exp(k mu + k² s² / 2) Φ(a - k s) + M^k (1 - Φ(a)), a = (ln M - mu) / s."""
        if self.s == 0.0:
            return self.longest**order
        a = (math.log(self.longest) - self.mu) / self.s
        inside = math.exp(order * self.mu + (order * self.s) ** 2 / 2.0) * _NORMAL.cdf(a - order * self.s)
        return inside + self.longest**order * (1.0 - _NORMAL.cdf(a))


@lru_cache(maxsize=1024)
def _solve(mean: float, longest: float, cv: float) -> CutLognormal:
    if mean <= 0.0 or longest <= mean * (1.0 + 1e-9) or cv <= 0.0:
        return CutLognormal(0.0, 0.0, max(mean, 0.0))
    s = math.sqrt(math.log(1.0 + cv * cv))
    low, high = math.log(mean) - s * s, math.log(longest) + 40.0 * s
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if CutLognormal(middle, s, longest).moment(1) < mean else (low, middle)
    return CutLognormal((low + high) / 2.0, s, longest)


@lru_cache(maxsize=1024)
def _solve_p99(mean: float, longest: float, p99: float) -> CutLognormal:
    """The spread whose 99th percentile is ``p99``; the percentile rises with the spread until the cut holds it."""
    low, high = LEAST_CV, MOST_CV
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _solve(mean, longest, middle).quantile(0.99) < p99 else (low, middle)
    return _solve(mean, longest, low)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one sequence as a stage meets it; ``squared`` is the mean of the squared length.

    Packed sequences fill a micro-batch with real tokens; padded ones cost ``longest`` each.
    """

    mean: float
    longest: float
    squared: float
    packed: bool

    @staticmethod
    def of(
        prompt_mean: float,
        prompt_max: float,
        response_mean: float,
        response_max: float,
        packed: bool,
        cv: float = CV,
        longest: float | None = None,
        p99: tuple[float | None, float | None] = (None, None),
    ) -> Tokens:
        """From prompt and response lengths, drawn independently.

        ``longest`` bounds their sum where that is known; ``p99`` are their 99th percentiles.
        """
        ends = ((prompt_mean, prompt_max, p99[0]), (response_mean, response_max, p99[1]))
        parts = [CutLognormal.of(mean, most, cv, tail) for mean, most, tail in ends if mean > 0]
        spread = sum(part.moment(2) - part.moment(1) ** 2 for part in parts)
        mean = prompt_mean + response_mean
        most = prompt_max + response_max if longest is None else longest
        return Tokens(mean, most, min(mean**2 + spread, most * mean), packed)

    @property
    def counted(self) -> float:
        """Tokens that one sequence costs in training and scoring."""
        return self.mean if self.packed else self.longest

    def expected_longest(self, samples: float) -> float:
        """Tokens of the longest of ``samples`` sequences, as if their whole length were a cut lognormal."""
        spread = max(self.squared / self.mean**2 - 1.0, 0.0) if self.mean > 0.0 else 0.0
        return CutLognormal.of(self.mean, self.longest, math.sqrt(spread)).expected_longest(max(samples, 1.0))

    @property
    def attended(self) -> float:
        """Mean length that a token's sequence has: E[s²] / E[s]."""
        return self.squared / self.mean if self.packed else self.longest
