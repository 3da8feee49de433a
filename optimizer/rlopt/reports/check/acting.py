"""Sentences on how a policy acts, what its loss asks for, and what its value model shares, learns first and drops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.request import Request, by_head

LOSSES: Final[Mapping[str, str]] = {
    "awr": "actions are weighted by their advantage, one denoising step each; no likelihood",
    "advantage_conditioned": "the advantage is an input, one denoising step each; no likelihood",
    "ppo": "a likelihood of every trained action before each update",
}


def acting(request: Request) -> Iterator[str]:
    """Say which heads are open with their steps, and what the policy's loss runs."""
    job, action = request.job, request.job.action
    if job.algorithm != "vla" or action is None:
        return
    if by_head(job.convergence):
        table = ", ".join(f"{head} {_steps(request, head)}" for head in request.action_heads)
        yield f"steps by action head: {table}{'; the head is a decision' if len(request.action_heads) > 1 else ''}"
    given = action.policy_loss != "awr" or "job.action.policy_loss" in request.source.places
    head, text = "policy loss" if given else "job.action.policy_loss is not given:", LOSSES[action.policy_loss]
    if action.policy_loss == "ppo" and "flow" in request.action_heads:
        text += f"; a flow head runs all {action.flow_steps} denoising steps for it, and its update keeps those of each"
    yield f"{head} {action.policy_loss}{':' if given else ','} {text}"


def value_model(request: Request) -> Iterator[str]:
    """Say what the value model shares, what it is trained on first, and where it screens."""
    job, value = request.job, request.job.models.value
    if job.algorithm != "vla" or value is None or value.keyword == "none":
        return
    if value.shared is not None:
        yield f"the value model is {value.label}, whose weights are held once"
    if request.value_bins == (1,):
        yield "the value model has one output: regression in place of bins"
    if job.offline is not None:
        passes = "once" if job.offline.epochs == 1 else f"{job.offline.epochs} times"
        yield (
            f"before the first step the value model is trained on {job.offline.samples:,} stored trajectories, {passes}"
        )
    if job.filter.before_storage and job.filter.drop > 0.0:
        yield (
            f"the value model scores every trajectory where it is collected, and {job.filter.drop:.0%} are dropped "
            "before they are stored"
        )


def _steps(request: Request, head: str) -> str:
    """Steps of one head, by group size where there are several sizes."""
    sizes = request.group_sizes
    if len(sizes) < 2:
        return str(request.job.steps_for(next(iter(sizes), None), head=head))
    return ", ".join(f"{request.job.steps_for(size, head=head)} at K {size}" for size in sizes)
