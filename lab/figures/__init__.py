"""docs/figures.md: quoted figures, recomputed."""
