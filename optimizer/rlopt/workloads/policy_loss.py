"""What the policy's loss asks of a step, by `job.action.policy_loss`.

awr: supervised regression onto sampled actions, weighted by their advantage (Peng et al., 2019, arXiv 1910.00177). One
denoising step a sample, drawn at random as in flow matching; no likelihood.

advantage_conditioned: the same regression with the advantage as an input (RECAP, Physical Intelligence, 2025, arXiv
2511.14759). The input is left out of some samples at random; no source shows a further pass for that, and none is
counted.

ppo: a ratio of likelihoods, that of the policy which sampled over that of the one being trained. A token head and a
single step give theirs in one pass. Of a flow head the exact one is out of reach; what stands in for it is the joint
likelihood of all denoising steps (Flow-Noise of pi_RL, 2025, arXiv 2510.25889): a pass over every step for the old
policy when training starts, and an update that unrolls all steps and keeps the activations of each. Cheaper ways are
known and not counted here: one step of the chain (Flow-SDE, same paper), or the flow-matching loss in the ratio's place
(FPO, McAllister et al., 2025, arXiv 2507.21053).
"""

from __future__ import annotations

from dataclasses import replace

from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.acting import Acting
from rlopt.workloads.contract import Stage

LIKELIHOOD = "likelihood"
"""What plans call the passes that score sampled actions under the policy which sampled them."""


def unrolled(request: Request, acts: Acting) -> int:
    """Passes of the action head that one trained sample runs through and keeps: all flow steps under ppo, else one.

    Denoised chunks stand behind one another like one long sequence of action tokens, so memory and seconds of the
    head are those of as many tokens. Each reads the observation, and none the others: the pairs that attention is
    counted over are a little too many.
    """
    action = request.job.action
    ratio = action is not None and action.policy_loss == "ppo"
    return acts.passes if ratio and acts.head == "flow" else 1


def likelihood(request: Request, updates: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """Passes over what the policy is trained on before it changes; nothing unless the loss is a ratio."""
    action = request.job.action
    if action is None or action.policy_loss != "ppo":
        return ()
    return tuple(replace(stage, kind=StageKind.SCORE, updates=1, epochs=1, name=LIKELIHOOD) for stage in updates)
