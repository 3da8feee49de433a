"""Sentences on models to choose among, and on what is stated of each."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.request import OPEN_ROLES, ModelOption, Request, TeacherTraining


def choices_of_models(request: Request) -> Iterator[str]:
    """Say among which models the plan chooses, and what it holds them against."""
    for role in OPEN_ROLES:
        ref = request.job.models.given().get(role)
        options: tuple[ModelOption, ...] = getattr(ref, "options", ())
        if len(options) > 1:
            yield f"the {role} model is a decision: {'; '.join(_told(option, request) for option in options)}"
        elif options:
            yield f"of the {role} model is stated: {_told(options[0], request)}"
    floor = request.floors.reward_quality
    if floor is not None:
        yield f"reward models stated to be less accurate than {floor:g} are left out; the request vouches for it"


def _told(option: ModelOption, request: Request) -> str:
    facts = [] if option.accuracy is None else [f"accuracy {option.accuracy:g}"]
    if option.convergence is not None:
        table = option.convergence
        one = list(table) == [1] and request.group_sizes == (1,)
        facts.append(f"{table[1]} steps" if one else f"steps {', '.join(f'{k}: {n}' for k, n in table.items())}")
    if option.cpu is not None:
        cpu = option.cpu
        each = f"{cpu.vcpu_seconds_per_sample / cpu.vcpus:g} s a sample in a process of {cpu.vcpus:g} vCPUs"
        facts.append(f"without GPUs {each}, {' or '.join(str(count) for count in cpu.processes)} of them")
    if option.teacher_training is not None:
        facts.append(_trained(option.teacher_training))
    return f"{option.label} ({', '.join(facts)})" if facts else option.label


def _trained(how: TeacherTraining) -> str:
    text = f"trained first by {how.algorithm}: {how.whole_steps} steps of {how.prompts_per_step} sequences"
    if how.remedial_share:
        text += f", {how.remedial_share:.0%} more tokens against forgetting"
    if how.trials > 1:
        text += f", {how.trials} runs of it"
    return text + (f", shared by {how.shared_by} runs" if how.shared_by > 1 else "")


def kernels(request: Request) -> Iterator[str]:
    """Say which kernels are open; with a launcher named, only those that it has are."""
    chosen = request.choices.kernels
    parts = (("loss", chosen.loss), ("attention", chosen.attention))
    told = [f"{name} {' or '.join(values)}" for name, values in parts if values]
    if told:
        yield f"kernels are a decision: {', '.join(told)}"


def made_pairs(request: Request) -> Iterator[str]:
    """Say how preference pairs are made."""
    made = request.job.pairs
    if made is not None:
        by = "a program" if made.judge.is_rule else made.judge.label
        of = "the policy" if made.generator.is_policy else made.generator.label
        kept = "" if made.pairs_per_prompt == 1 else f", {made.pairs_per_prompt} pairs kept of each prompt"
        yield f"pairs are made first: {made.candidates} candidates of {of} to each prompt, judged by {by}{kept}"
