"""Keys that belong to some algorithms and not to others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import GENERATING
from rlopt.words import EnvironmentKind

_VLA_ONLY: Final = ("action", "trajectory", "value_stride", "offline")


_VLA_NEEDS: Final = {
    "vision": "{image_size: 224, tokens_per_image: 64}",
    "action": "{head: flow, flow_steps: 10, chunk: 50, frequency: 50 Hz}",
    "trajectory": "{mean: 60s, max: 120s}",
    "environment": "{kind: simulator, steps_per_second: 100}",
}


_SAMPLING_ONLY: Final = {
    "cache_hit_rate": 0,
    "ppo_epochs": 1,
    "pass_rate": None,
    "filter": None,
    "environment": None,
}

_SOME_ALGORITHMS: Final[Mapping[str, tuple[str, ...]]] = {
    "remedial_share": ("sft",),
    "fallback.share_of_steps": ("dpo", *GENERATING),
}
"""Numbers that mean something in these algorithms only: extra tokens, and steps that score or sample."""


def texts(view: View) -> Iterator[Finding]:
    """Look for the response lengths: every job needs them but vla, which has none."""
    if view.algorithm is None:
        return
    given = view.get("job.response_tokens") is not None
    if view.algorithm != "vla" and not given and isinstance(view.get("job"), Mapping):
        yield Finding(
            "job.response_tokens",
            "is missing",
            "tokens of a response: {mean, max}",
            "add response_tokens: {mean: 1500, max: 8192}",
        )
    if view.algorithm == "vla" and given:
        yield Finding(
            "job.response_tokens",
            "does not apply to vla: its output is actions",
            "job.action",
            "delete response_tokens",
        )


def growth(view: View) -> Iterator[Finding]:
    """Look for responses that grow where they stand in a data set."""
    if view.algorithm in (*GENERATING, None) or view.algorithm == "vla":
        return
    if view.get("job.response_tokens.mean_end") is not None:
        yield Finding(
            "job.response_tokens.mean_end",
            f"does not apply to {view.algorithm}: its responses stand in the data set, in any order",
            "a job that generates its responses: algorithm ppo, grpo or opd",
            "delete mean_end and give the mean of the whole data set",
        )


def vla(view: View) -> Iterator[Finding]:
    """Look for keys that only vla has, and for those that it needs."""
    if view.algorithm is None or not isinstance(view.get("job"), Mapping):
        return
    for key in _VLA_ONLY:
        if view.algorithm != "vla" and view.get(f"job.{key}") is not None:
            yield Finding(f"job.{key}", f"does not apply to {view.algorithm}", "algorithm: vla", f"delete {key}")
    for key, example in _VLA_NEEDS.items():
        if view.algorithm == "vla" and view.get(f"job.{key}") is None:
            yield Finding(f"job.{key}", "is missing: vla needs it", f"for example {example}", f"add {key}: {example}")
    kind = view.get("job.environment.kind")
    fitting = ("simulator", "robot") if view.algorithm == "vla" else ("tools",)
    if kind in tuple(EnvironmentKind) and kind not in fitting and view.algorithm in GENERATING:
        yield Finding(
            "job.environment.kind",
            f"{kind} does not fit {view.algorithm}",
            " | ".join(fitting),
            f"write {fitting[0]}",
        )


def sampling(view: View) -> Iterator[Finding]:
    """Look for keys of sampling in jobs that sample nothing."""
    writes = tuple(name for name in GENERATING if name != "vla")
    copied = view.get("checkpoint.rollouts") not in (None, "none", ["none"])
    if copied and view.algorithm is not None and view.algorithm not in writes:
        why = "no responses of text" if view.algorithm == "vla" else "nothing"
        yield Finding(
            "checkpoint.rollouts",
            f"does not apply to {view.algorithm}: it samples {why}",
            f"algorithms {', '.join(writes)}",
            "delete rollouts",
        )
    if view.algorithm is None or view.algorithm in GENERATING:
        return
    for key, neutral in _SAMPLING_ONLY.items():
        value = view.get(f"job.{key}")
        if value is not None and value != neutral:
            yield Finding(
                f"job.{key}",
                f"does not apply to {view.algorithm}: it samples nothing",
                f"algorithms {', '.join(GENERATING)}",
                f"delete {key}",
            )
    if view.get("choices.group_size") is not None:
        yield Finding(
            "choices.group_size",
            f"does not apply to {view.algorithm}: there are no groups",
            f"algorithms {', '.join(GENERATING)}",
            "delete group_size",
        )
    placements = view.get("choices.placements")
    if isinstance(placements, list) and placements and "colocated" not in placements:
        yield Finding(
            "choices.placements",
            f"{view.algorithm} has no rollout pool to place apart",
            "[colocated]",
            "write [colocated], or delete placements",
        )


def some_algorithms(view: View) -> Iterator[Finding]:
    """Look for numbers that mean nothing in this algorithm."""
    if view.algorithm is None:
        return
    for key, algorithms in _SOME_ALGORITHMS.items():
        if view.number(f"job.{key}") and view.algorithm not in algorithms:
            yield Finding(
                f"job.{key}",
                f"does not apply to {view.algorithm}",
                f"algorithms {', '.join(algorithms)}",
                f"delete {key.rpartition('.')[2]}",
            )
