"""Updates and scoring passes: memory, arithmetic, seconds."""
