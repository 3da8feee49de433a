"""How long a run is, on what data, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import GENERATING


def length_of_run(view: View) -> Iterator[Finding]:
    """Look for exactly one way to say how long the run is."""
    allowed = "exactly one of steps, epochs with dataset_samples, convergence, or value_convergence"
    if "job" not in view.tree:
        return
    given = [
        key for key in ("steps", "epochs", "convergence", "value_convergence") if view.get(f"job.{key}") is not None
    ]
    if len(given) > 1:
        yield Finding(f"job.{given[1]}", f"is given beside {given[0]}", allowed, f"delete {' or '.join(given)}")
    if "epochs" in given and view.get("job.dataset_samples") is None:
        yield Finding("job.epochs", "is given without dataset_samples", allowed, "add dataset_samples: 100000")
    if not given and isinstance(view.get("job"), Mapping):
        fix = "add epochs: 1" if view.get("job.dataset_samples") is not None else "add steps: 600"
        yield Finding("job", "does not say how long it runs", allowed, fix)
    if view.get("job.convergence") is not None and view.algorithm not in (None, *GENERATING):
        yield Finding(
            "job.convergence",
            f"has no meaning in {view.algorithm}: there are no groups",
            "steps, or epochs with dataset_samples",
            "write steps: 600",
        )
    steps, debugged = view.number("job.steps"), view.number("job.text_log.debug_steps")
    if steps is not None and debugged is not None and debugged > steps:
        yield Finding(
            "job.text_log.debug_steps",
            f"{debugged:g} exceed the {steps:g} steps of the run",
            f"at most {steps:g}",
            f"write debug_steps: {steps:g}",
        )


def data_work(view: View) -> Iterator[Finding]:
    """Look for incremental training without new samples or epochs, and for prices of new samples where none are."""
    for key in ("collect_price", "accepted_share"):
        if view.get(f"job.data.{key}") not in (None, 0, 1) and not view.number("job.data.new_samples"):
            message, allowed = "is given and there are no new samples", "new_samples of 1 or more"
            yield Finding(f"job.data.{key}", message, allowed, "add new_samples: 20000")
    yield from _backup(view)
    if view.number("job.data.versions_kept") and view.get("job.data.incremental") is not True:
        message, allowed = (
            "keeps what incremental training leaves, and training is not incremental",
            "0, or incremental",
        )
        yield Finding("job.data.versions_kept", message, allowed, "add incremental: true")
    if view.get("job.data.incremental") is True:
        if not view.number("job.data.new_samples"):
            yield Finding(
                "job.data.incremental",
                "trains on new samples only, and there are none",
                "new_samples of 1 or more",
                "add new_samples: 20000",
            )
        if view.get("job.epochs") is None:
            yield Finding(
                "job.data.incremental",
                "is given without epochs",
                "epochs with dataset_samples",
                "replace steps by epochs: 1 and dataset_samples",
            )


def _backup(view: View) -> Iterator[Finding]:
    """Look for backups that do not say how often, or how much changes between them."""
    mode = view.get("job.data.backup.mode")
    if mode not in ("full", "incremental", "versioning"):
        return
    if view.get("job.data.backup.every") is None:
        yield Finding("job.data.backup.every", f"is missing: {mode} backups", "a duration", "add every: 24h")
    if mode != "full" and view.number("job.data.backup.changed_share") is None:
        message = f"is missing: {mode} backups hold what changed"
        yield Finding("job.data.backup.changed_share", message, "a number from 0 to 1", "add changed_share: 0.05")


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
