"""How a policy acts: the keys of its heads, and steps for each head that may be chosen."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request.values.kinds import show
from rlopt.words import ActionHead


def heads(view: View) -> Iterator[Finding]:
    """Look for keys of a head that is not in play, for those that one needs, and for choices that cannot be trained."""
    chosen, stated = view.get("choices.action_head"), view.get("job.action.head")
    if chosen is not None and view.algorithm not in (None, "vla"):
        yield Finding(
            "choices.action_head", f"does not apply to {view.algorithm}", "algorithm: vla", "delete action_head"
        )
    if view.algorithm != "vla" or stated not in tuple(ActionHead):
        return
    playing = heads_of(view)
    for key, head, neutral in (("flow_steps", "flow", 1), ("tokens_per_action", "tokens", None)):
        value = view.get(f"job.action.{key}")
        if value is None and head in playing and head != stated:  # of the stated head the reader says so
            yield Finding(
                "job.action",
                f"choices.action_head names {head}, which needs {key}",
                f"{key} given",
                f"add {key}: {10 if head == 'flow' else 7}",
            )
        if value is not None and value != neutral and head not in playing:
            named = f"head {stated}" if playing == [stated] else f"choices.action_head {show(playing)}"
            yield Finding("job.action", f"{key} {value} with {named}", f"{key} with head: {head} only", f"delete {key}")
    frozen = view.get("job.trainable.frozen")
    if len(playing) > 1 and "tokens" in playing and isinstance(frozen, list) and "backbone" in frozen:
        yield Finding(
            "choices.action_head",
            "a token head acts through the backbone, and the backbone is frozen",
            "heads that are trained: flow, one_step",
            "take tokens out, or train the backbone",
        )


def heads_steps(view: View) -> Iterator[Finding]:
    """Look for heads without steps of their own: none is assumed to need as many as another."""
    table = view.map("job.convergence")
    told = [key for key in table if key in tuple(ActionHead)]
    if told and view.algorithm not in (None, "vla"):
        yield Finding(
            "job.convergence",
            f"tells steps by action head, and {view.algorithm} has no actions",
            "steps, or a map of group sizes",
            "write steps: 600",
        )
    if view.algorithm != "vla" or view.get("job.action.head") not in tuple(ActionHead):
        return
    playing = heads_of(view)
    missing = [head for head in playing if head not in told]
    if missing and (told or len(playing) > 1 or playing != [view.get("job.action.head")]):
        example = ", ".join(f"{head}: 600" for head in playing)
        yield Finding(
            "job.convergence" if told else "choices.action_head",
            f"{missing[0]} has no steps of its own",
            "job.convergence with an entry for each head that may be chosen",
            f"write convergence: {{{example}}} with the steps of each" if not told else f"add {missing[0]}: 900",
        )


def heads_of(view: View) -> list[str]:
    """Give the heads in play: those of the choices, else the stated one."""
    chosen, stated = view.get("choices.action_head"), view.get("job.action.head")
    if isinstance(chosen, list):
        return [head for head in ActionHead if head in chosen]
    return [stated] if stated in tuple(ActionHead) else []
