"""Questions asked of the problem: one file or room each."""
