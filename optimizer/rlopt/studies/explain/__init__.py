"""Why a plan is what it is, or why there is none."""
