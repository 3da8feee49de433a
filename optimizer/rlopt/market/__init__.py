"""Which offers there are, and what a region charges beside its GPUs."""
