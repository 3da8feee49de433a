"""Robust, bounded fits of the estimates' constants on measurements."""

from __future__ import annotations

from rlopt.fitting.fit import Parameter, Study, fit

__all__ = ["Parameter", "Study", "fit"]
