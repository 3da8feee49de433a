"""verl: what is exported to it, and what it logs."""
