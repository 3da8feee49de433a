"""docs/accuracy.md: how far predictions can be trusted."""
