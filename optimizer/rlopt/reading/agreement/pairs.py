"""Preference pairs that are made first: jobs that have any, and models that can sample and judge."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.reading.agreement.contract import Finding, View

PAIRED = ("dpo", "rm")


def pairs(view: View) -> Iterator[Finding]:
    """Look for pairs of jobs that are not trained on any, and for keywords that are no model of theirs."""
    if view.algorithm is None or view.get("job.pairs") is None:
        return
    if view.algorithm not in PAIRED:
        message = f"does not apply to {view.algorithm}: it is not trained on pairs"
        yield Finding("job.pairs", message, f"algorithm: {' or '.join(PAIRED)}", "delete pairs")
        return
    if view.get("job.pairs.generator") in ("rule", "none"):
        yield Finding("job.pairs.generator", "samples responses", "policy, or a model", "write policy")
    if view.get("job.pairs.judge") in ("policy", "none"):
        yield Finding("job.pairs.judge", "scores responses", "a model, or rule", "write rule, or a reward model")
