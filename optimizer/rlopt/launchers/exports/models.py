"""Where a launcher finds the models of a run: an address on the hub, or a blank where the request has none."""

from __future__ import annotations

from rlopt.launchers.exports.contract import Blank
from rlopt.launchers.exports.run import Run
from rlopt.request import ModelRef


def reference_of(run: Run, role: str) -> ModelRef | None:
    """The model of a role as the request has it, the chosen one where it gives several."""
    ref: ModelRef | None = getattr(run.request.job.models, role, None)
    options = getattr(ref, "options", ())
    chosen = (run.made.models or {}).get(role)
    for option in options:
        if option.model.label == chosen:
            return option.model  # type: ignore[no-any-return]
    return options[0].model if options else ref


def has_model(run: Run, role: str) -> bool:
    """Whether a network stands in a role (the policy's own weights count)."""
    ref = reference_of(run, role)
    if ref is None:
        return role in run.models
    return not ref.is_none and not ref.is_rule


def address(run: Run, role: str) -> str | Blank:
    """Address of a role's model on the hub; a blank where it was given by its shape or a file."""
    ref = reference_of(run, role)
    if role != "policy" and (ref is None or ref.is_policy):
        return address(run, "policy")
    if ref is not None and ref.name is not None and "/" in ref.name:
        return ref.name
    known = run.models.get(role)
    if ref is not None and ref.name is not None and known is not None and known.hf_id:
        return known.hf_id
    label = ref.label if ref is not None else role
    return Blank(f"{role.upper()}_MODEL", f"the path or hub address of the {role} model ({label})")


def blanks_of(*found: str | Blank) -> list[Blank]:
    """The blanks among addresses."""
    return [one for one in dict.fromkeys(found) if isinstance(one, Blank)]
