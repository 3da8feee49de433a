"""Ways to run one job that change its stages or its steps.

Clean or dirty data, log-probabilities computed anew or stored, scoring models on a pool of their own, bins of the
value model, heads that act, samples screened where they are collected. A variant is a workload of its own. Variants
that differ in steps alone have equal `structure_key`, and those that sample alike equal `sampling_key`: what is
estimated for one serves the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from rlopt.errors import NotSupportedError
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import LogProbs, Placement, StageKind
from rlopt.workloads import build_workload
from rlopt.workloads.acting_ways import heads, prepared, screened
from rlopt.workloads.contract import Workload
from rlopt.workloads.cpu_scoring import scorers
from rlopt.workloads.dpo import SEQUENCES_PER_PAIR
from rlopt.workloads.kernels import kernel_ways
from rlopt.workloads.online import sampled_share
from rlopt.workloads.picked import Picked, facts_of, picks
from rlopt.workloads.variant import Variant, without

__all__ = ["Variant", "workload_variants"]

LOG_PROB_BYTES = 4.0
"""A stored log-probability in fp32.

Of a pair two sums over its sequences: open-instruct keeps float32 chosen_logps and rejected_logps of shape (pairs,)
(`dpo_utils.build_reference_logprobs_cache`), TRL two columns (`DPOConfig.precompute_ref_log_probs`).
"""
SCORED = ("reference", "teacher")
"""Frozen roles whose log-probabilities do not change over the run and may be stored."""
POOLED = ("teacher", "reward")
"""Frozen roles that may score on a pool of their own."""


def workload_variants(request: Request, models: Mapping[str, Model]) -> tuple[Variant, ...]:
    """Every way to run the job that the request leaves open; the stated or least changed one first.

    Raises
    ------
    NotSupportedError
        Where the choices leave no way at all.
    """
    found = []
    for picked, head in product(picks(request), heads(request)):
        acting = request if head is None else request.replaced("job.action.head", head)
        plain = build_workload(acting, facts_of(models, picked))
        for cleaned, bins in product(_cleaned(request), _bins(request, plain)):
            steps = _steps(acting, plain, cleaned, bins, picked)
            workload = _with_bins(plain, bins, steps)
            based = Variant(workload, cleaned, value_bins=bins, picked=picked, action_head=head)
            if not based.steps:
                continue
            for scored in _log_probs(request, prepared(request, based)):
                for placed in _scoring(request, scored):
                    ways = [replace(placed, kernels=kernels) for kernels in kernel_ways(request)]
                    found += [one for way in ways for one in screened(request, way)]
    if not found and request.choices.scoring == ("cpu",):
        raise NotSupportedError("choices.scoring", "cpu needs a reward model whose cpu is stated")
    if not found:
        raise NotSupportedError("choices", "no way to run the job is left: no number of steps is known for any of them")
    return sampling_alike(found)


def sampling_alike(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The same, each with the number of the first that samples alike."""
    first: dict[Hashable, int] = {}
    keys = [(one.workload.sampling_key, one.kernels if one.workload.screening else None) for one in variants]
    numbers = [first.setdefault(key, at) for at, key in enumerate(keys)]
    return tuple(replace(variant, sampler=number) for variant, number in zip(variants, numbers, strict=True))


def _cleaned(request: Request) -> tuple[bool, ...]:
    return (False, True) if request.job.cleaning_is_open else (request.job.data.cleaned,)


def _bins(request: Request, workload: Workload) -> tuple[int | None, ...]:
    """Numbers of bins with known steps; (None,) where nothing has bins."""
    return request.value_bins if any(role.name == "value" for role in workload.roles) else (None,)


def _steps(
    request: Request, workload: Workload, cleaned: bool, bins: int | None, picked: Picked | None
) -> dict[int, int]:
    """Steps by group size; a table of the value model, or of the model chosen, takes the place of others."""
    job, table = request.job, None if picked is None else picked.option.convergence
    found = {size: job.steps_for(size, cleaned=cleaned, value_bins=bins, table=table) for size in workload.group_sizes}
    return {size: steps for size, steps in found.items() if steps is not None}


def _with_bins(workload: Workload, bins: int | None, steps: Mapping[int, int]) -> Workload:
    if bins is None:
        return replace(workload, steps=steps)
    roles = tuple(replace(role, outputs=bins) if role.name == "value" else role for role in workload.roles)
    return replace(workload, roles=roles, steps=steps)


def _log_probs(request: Request, based: Variant) -> Iterator[Variant]:
    """Frozen log-probabilities computed in each step, or once and stored."""
    roles = tuple(role.name for role in based.workload.roles if role.name in SCORED)
    reused = request.job.cache_hit_rate > 0.0
    if not roles or not (request.job.algorithm == "dpo" or reused):
        yield based
        return
    for choice in request.choices.log_probs:
        if choice == LogProbs.RECOMPUTE:
            yield replace(based, log_probs=LogProbs.RECOMPUTE)
        elif request.job.algorithm == "dpo":
            yield _stored_pairs(request, based)
        else:
            yield _stored_samples(request, based, roles)


def _stored_pairs(request: Request, based: Variant) -> Variant:
    """One pass of the reference over all pairs before the first step, two sums kept of each."""
    workload, job = based.workload, request.job
    known = job.data.new_samples if job.data.incremental else job.dataset_samples
    pairs = float(known or job.prompts_per_step * workload.steps[1])
    once = tuple(replace(s, per_sample=1.0) for s in workload.stages if s.role == "reference")
    return replace(
        based,
        workload=without(workload, ("reference",)),
        log_probs=LogProbs.STORED,
        once=once,
        once_roles=(workload.role("reference"),),
        once_sequences=pairs * SEQUENCES_PER_PAIR,
        stored_bytes={1: pairs * SEQUENCES_PER_PAIR * LOG_PROB_BYTES},
    )


def _stored_samples(request: Request, based: Variant, roles: tuple[str, ...]) -> Variant:
    """Frozen roles score new samples alone; what they said of each sampled token is kept with the cached samples.

    Distinct samples are prompts of the data set · K where its size is known, else the reused share of all steps'.
    """
    workload, job = based.workload, request.job
    stages = tuple(
        replace(stage, per_sample=stage.per_sample * sampled_share(request))
        if stage.kind == StageKind.SCORE and stage.role in roles
        else stage
        for stage in workload.stages
    )
    tokens = job.response_tokens.average * LOG_PROB_BYTES * len(roles)

    def kept(size: int, steps: int) -> float:
        reused = job.cache_hit_rate * workload.samples(size) * steps
        return reused if job.dataset_samples is None else min(reused, float(job.dataset_samples * size))

    return replace(
        based,
        workload=replace(workload, stages=stages),
        log_probs=LogProbs.STORED,
        stored_bytes={size: kept(size, steps) * tokens for size, steps in workload.steps.items()},
    )


def _scoring(request: Request, based: Variant) -> Iterator[Variant]:
    """Frozen scoring models on the training pool, on a pool of their own where pools may stand apart, or on CPUs."""
    roles = tuple(role.name for role in based.workload.roles if role.name in POOLED and not role.trained)
    if not roles:
        yield based
        return
    apart = any(placement != Placement.COLOCATED for placement in request.placements)
    choices = [choice for choice in request.choices.scoring if choice != "own" or apart]
    if not choices:
        raise NotSupportedError("choices.scoring", "own needs choices.placements with disaggregated or async")
    for choice in choices:
        if choice == "cpu":
            for processes in scorers(based.picked, based.workload):
                yield replace(based, scoring=choice, cpu=processes)
        else:
            yield replace(based, scoring=choice, own=roles if choice == "own" else ())
