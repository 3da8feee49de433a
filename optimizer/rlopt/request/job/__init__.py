"""The job: what is trained on what, and what surrounds it."""
