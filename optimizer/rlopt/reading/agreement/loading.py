"""Reading and preparing samples of a data set: only in jobs that train on one."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import GENERATING


def loads_nothing(view: View) -> str:
    """Why a job reads no samples of a data set in its steps; empty where it does."""
    if view.algorithm is None or view.algorithm not in GENERATING:
        return ""
    if view.algorithm != "vla":
        return f"{view.algorithm} samples its own data and reads prompts alone"
    stored = view.number("job.cache_hit_rate") or view.get("job.offline") is not None
    return "" if stored else "no trajectory is used again, and none is stored before the first step"


def loading(view: View) -> Iterator[Finding]:
    """Look for preparation and stores of a data set that no step reads."""
    why = loads_nothing(view)
    if not why:
        return
    allowed = "sft, dpo, rm; vla with job.cache_hit_rate or job.offline"
    if view.get("job.data.prepare") is not None:
        yield Finding("job.data.prepare", f"does not apply: {why}", allowed, "delete prepare")
    if view.get("choices.data_store") not in (None, ["object"]):
        yield Finding("choices.data_store", f"does not apply: {why}", allowed, "delete data_store")
