"""Measured memory: peaks, fits and failures to fit."""
