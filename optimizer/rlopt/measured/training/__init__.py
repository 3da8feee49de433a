"""Measured training runs."""
