"""Pools that only score, and scoring beside an engine."""
