"""docs/savings.md: plans beside published configurations."""
