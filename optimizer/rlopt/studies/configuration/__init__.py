"""A configuration that somebody has: what it costs, whether it fits, what would mend it."""
