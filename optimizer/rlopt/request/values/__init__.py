"""Kinds of values that requests hold, and where each was written."""
