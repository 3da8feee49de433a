"""Pools put together: the hours of a whole run, its interruptions and its recovery."""
