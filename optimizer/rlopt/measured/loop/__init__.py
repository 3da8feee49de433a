"""Measured steps of sampling loops."""
