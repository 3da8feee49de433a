"""Measured runs: files of them are read here, and held against what the estimates predict."""
