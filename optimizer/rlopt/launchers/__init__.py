"""Launchers, a room each: what a plan becomes for one, and what its logs tell. What all share: `exports`, `logs`."""
