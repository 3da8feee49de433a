"""Every published record: plan, evaluation, comparison, difference, explanation, review."""
