"""docs/seeds.md: what four texts name, and where it stands."""
