"""docs/evaluation.md: published configurations, evaluated."""
