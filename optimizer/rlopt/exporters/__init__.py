"""Finished plans as files for other tools: labels and alerts for the clouds' budgets.

A form of output is a pure function from a plan to a document; it does no arithmetic of its own beyond thresholds.
"""
