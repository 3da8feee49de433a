"""One model of a choice: teacher, reward model or value model, with what is stated of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rlopt.facts import Model
from rlopt.request import OPEN_ROLES, ROLES, ModelChoice, ModelOption, Request


def facts_key(role: str, number: int) -> str:
    """Name under which the facts of a role's entry stand: the role for the first, ``role[n]`` for the others."""
    return role if number == 0 else f"{role}[{number}]"


@dataclass(frozen=True, slots=True)
class Picked:
    """One entry of a role's choice."""

    role: str
    number: int
    option: ModelOption

    @property
    def name(self) -> str:
        """What the plan calls the model."""
        return self.option.label


def open_role(request: Request) -> tuple[str, tuple[ModelOption, ...]] | None:
    """The role whose models are listed or described, and its entries; None where every model is given plainly."""
    for role in OPEN_ROLES:
        ref = getattr(request.job.models, role) if role in ROLES[request.job.algorithm] else None
        if isinstance(ref, ModelChoice) and ref.options:
            return role, ref.options
    return None


def picks(request: Request) -> Iterator[Picked | None]:
    """Every entry of the open role; one None where there is none."""
    found = open_role(request)
    if found is None:
        yield None
        return
    role, options = found
    for number, option in enumerate(options):
        yield Picked(role, number, option)


def facts_of(models: Mapping[str, Model], picked: Picked | None) -> dict[str, Model]:
    """Facts by role, with the chosen entry in its role."""
    plain = {role: model for role, model in models.items() if "[" not in role}
    return plain if picked is None else {**plain, picked.role: models[facts_key(picked.role, picked.number)]}
