"""A run that has begun: its logs, its constants, its rest, its bill."""
