"""Turns the collected facts of ``catalogs/raw`` into the project's own catalogs, one module per catalog."""
