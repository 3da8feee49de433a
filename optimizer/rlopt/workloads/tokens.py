"""Tokens of one step, as the stages of a workload count them: cache hits and what the filter drops taken off."""

from __future__ import annotations

from rlopt.words import StageKind
from rlopt.workloads.contract import Stage, Workload


def read_tokens(workload: Workload, stage: Stage, group_size: int) -> float:
    """Tokens that a scoring pass or an update reads: sequences · mean length · passes over them."""
    return workload.sequences(stage, group_size) * stage.lengths.mean * stage.epochs


def sampled_tokens(workload: Workload, group_size: int) -> tuple[float, float]:
    """Tokens of prompts and of responses; of a policy that acts, of its observations and its actions.

    A flow head denoises the tokens of one chunk in several passes: they count once.
    """
    stage = workload.of_kind(StageKind.SAMPLE)[0]
    sequences, acts = workload.sequences(stage, group_size), workload.acting
    if acts is None:
        return sequences * stage.lengths.prompt_mean, sequences * stage.lengths.response_mean
    inferences = sequences * acts.inferences_mean
    return inferences * acts.observation_tokens, inferences * acts.action_tokens


def trained_tokens(workload: Workload, group_size: int) -> dict[str, float]:
    """Tokens that updates read, by trained model."""
    return {stage.role: read_tokens(workload, stage, group_size) for stage in workload.of_kind(StageKind.TRAIN)}
