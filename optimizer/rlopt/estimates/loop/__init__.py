"""The loop around the stages: transfers, failures, one step and a whole run."""
