"""Robust, bounded fits of the estimates' constants on measurements."""

from __future__ import annotations

from rlopt.fitting.fit import Parameter, Study, fit
from rlopt.fitting.folds import out_of_sample

__all__ = ["Parameter", "Study", "fit", "out_of_sample"]
