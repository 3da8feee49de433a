"""A verl launch script, or its Hydra configuration, as a configuration: the keys that say how the job is run.

Key names and defaults are those of verl 0.9.1 (`verl/trainer/config/ppo_trainer.yaml` and what it includes). What is
left out is what verl then does, and is said; a key that is not held is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rlopt.answers.configuration import Configuration, DecisionsGiven, LayoutGiven, PoolGiven, PrecisionGiven
from rlopt.errors import InputError
from rlopt.reading.configuration.shell import VARIABLE, calculated, plain, spelled
from rlopt.words import Placement

ACTOR, ROLLOUT, MODEL = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.model"
MARKS: Final = ("actor_rollout_ref.", "main_ppo", "trainer.n_gpus_per_node")
_OVERRIDE: Final = re.compile(r"""(?<![\w./-])\+{0,2}([a-z_]\w*(?:\.\w+)+)=("[^"]*"|'[^']*'|[^\s\\"']+)""")
_MAIN: Final = re.compile(r"\b(fully_async|one_step_off)_(?:main|policy\.main_ppo|ppo)")
"""How a script names a trainer that samples on machines of its own: its module, or its configuration."""
TOP: Final = ("rollout.n_gpus_per_node", "rollout.nnodes")
"""Machines that sample, of the trainers with machines of their own for it."""
MEGATRON: Final = {
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "vp": "virtual_pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
    "etp": "expert_tensor_parallel_size",
}


def is_script(text: str) -> bool:
    """Whether a text is a shell script that starts verl."""
    return any(mark in text for mark in MARKS) and _OVERRIDE.search(text) is not None


def of_script(text: str, name: str) -> Configuration:
    """The configuration of a shell script with Hydra overrides; a key given twice has its last value."""
    values: dict[str, Any] = {}
    lines: dict[str, int | None] = {}
    variables: dict[str, str] = {}
    trainer = ""
    for number, line in enumerate(text.splitlines(), start=1):
        code = "" if line.lstrip().startswith("#") else calculated(line, variables)
        known = VARIABLE.match(code)
        if known is not None and "." not in known[1]:
            variables[known[1]] = spelled(known[2], variables)
        for key, value in _OVERRIDE.findall(code):
            values[key], lines[key] = plain(spelled(value, variables)), number
        named = _MAIN.search(code)
        trainer = named[1] if named is not None else trainer
    return _Verl(values, lines, name, trainer).configuration()


def of_tree(tree: Mapping[Any, Any], places: Mapping[str, tuple[str, int | None]], name: str) -> Configuration:
    """The configuration of a Hydra file."""
    values = dict(_leaves(tree, ""))
    return _Verl(values, {key: line for key, (_, line) in places.items()}, name).configuration()


def _leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, Mapping):
        yield path, tree
        return
    for key, value in tree.items():
        yield from _leaves(value, f"{path}.{key}" if path else str(key))


@dataclass(slots=True)
class _Verl:
    """Values by dotted key; ``used`` are those that were held."""

    values: Mapping[str, Any]
    lines: Mapping[str, int | None]
    name: str
    trainer: str = ""
    """fully_async or one_step_off where the script names one of them."""
    used: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def of(self, key: str, default: Any = None) -> Any:
        """The value of a key, which is then held; the default where it is left out."""
        self.used.add(key)
        value = self.values.get(key)
        return default if value is None or value == "null" else value

    def whole(self, key: str, default: int | None = None) -> int | None:
        """A count. Raises InputError where it is none."""
        value = self.of(key, default)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value
        message, fix = f"{value!r} is no count", f"write {key}=1, or evaluate the script with its variables filled in"
        line = self.lines.get(key)
        raise InputError.of(key, message, file=self.name, line=line, allowed="a whole number from 1", fix=fix)

    def configuration(self) -> Configuration:
        """What the script runs."""
        each, nodes = self.whole("trainer.n_gpus_per_node", 8), self.whole("trainer.nnodes", 1)
        apart, steps_late = self.apart(), 1 if self.trainer == "one_step_off" else None
        tp = self.whole(f"{ROLLOUT}.tensor_model_parallel_size")
        if tp is None:
            tp = 2
            self.notes.append("verl's rollout.tensor_model_parallel_size is 2 where it is left out")
        ep, steps = self.whole(f"{ROLLOUT}.expert_parallel_size", 1), self.of("trainer.save_freq")
        layout = self.layout()
        engine = {"tp": tp, "ep": ep} if apart else {}
        trained = layout if apart else layout.model_copy(update={"rollout_tp": tp, "rollout_ep": ep})
        pools = [self.pool("train", each, nodes, trained)]
        if apart:
            other, more = self.sampling(each)
            pools.append(self.pool("rollout", other, more, LayoutGiven.model_validate(engine)))
        low = self.of(f"{ROLLOUT}.quantization")
        precision = PrecisionGiven(rollout="fp8" if low == "fp8" else "bf16" if low is None else None)
        saves = steps if isinstance(steps, int) and steps > 0 else None
        decided = DecisionsGiven(
            placement=Placement.ASYNC if apart else Placement.COLOCATED,
            group_size=self.whole(f"{ROLLOUT}.n"),
            precision=precision,
            staleness=steps_late,
            interval_steps=saves,
        )
        left = tuple(sorted(key for key in self.values if key not in self.used))
        lines = dict(self.lines)
        return Configuration(
            pools=tuple(pools), decisions=decided, file=self.name, lines=lines, ignored=left, notes=tuple(self.notes)
        )

    def own_trainer(self) -> bool:
        """Whether a trainer runs that is not verl's main one: its machines for sampling stand at the top."""
        named = any(key.startswith("async_training.") or key in TOP for key in self.values)
        return bool(self.trainer) or named

    def apart(self) -> bool:
        """Whether other machines sample than train."""
        if self.own_trainer():
            self.used.add("actor_rollout_ref.hybrid_engine")
            if self.of("async_training.use_dynamic_resource_scheduling") is True:
                self.notes.append("training machines that help out with sampling (dynamic scheduling) are not modelled")
            return True
        separate, hybrid = self.of("trainer.v1.trainer_mode") == "separate_async", "actor_rollout_ref.hybrid_engine"
        if separate and self.of(hybrid) is not False:
            self.notes.append("training machines that help out with sampling (hybrid_engine) are not modelled")
        return separate or self.of(hybrid) is False

    def sampling(self, each: int | None) -> tuple[int | None, int | None]:
        """GPUs of a machine that samples, and machines. Raises InputError where there are none."""
        if self.own_trainer():  # 0.9.1 writes the keys at the top over those of the actor's rollout; later ones do not
            stated = [key if key in self.values else f"actor_rollout_ref.{key}" for key in TOP]
            if not any(key in self.values for key in stated):
                self.notes.append("verl samples on 1 machine of 8 GPUs where rollout.nnodes and its GPUs are left out")
            return self.whole(stated[0], 8), self.whole(stated[1], 1)
        nodes = self.whole(f"{ROLLOUT}.nnodes")
        if nodes is None:
            message, allowed = "is left out: verl then has no machines that sample", "a whole number from 1"
            fix = f"add {ROLLOUT}.nnodes=1, or sample and train on the same machines"
            raise InputError.of(f"{ROLLOUT}.nnodes", message, file=self.name, allowed=allowed, fix=fix)
        return self.whole(f"{ROLLOUT}.n_gpus_per_node", each), nodes

    def pool(self, role: Any, each: int | None, nodes: int | None, layout: LayoutGiven) -> PoolGiven:
        """Machines of one kind; verl does not say of which GPU."""
        gpus = (each or 1) * (nodes or 1)
        return PoolGiven(role=role, gpus=gpus, nodes=nodes, gpus_per_node=each, layout=layout)

    def layout(self) -> LayoutGiven:
        """Parallel layout of the actor."""
        megatron = "megatron" in (self.of("model_engine"), self.of(f"{ACTOR}.strategy"))
        found: dict[str, Any] = {"micro_batch": self.micro_batch()}
        if megatron:
            room = f"{ACTOR}.megatron"
            found |= {name: self.whole(f"{room}.{key}") for name, key in MEGATRON.items()}
            found["sharding"] = "zero1"
            granularity = self.of(f"{room}.override_transformer_config.recompute_granularity")
            found["recompute"] = granularity if granularity in ("full", "selective") else "none"
        else:
            room = f"{ACTOR}.fsdp_config"
            older = self.whole(f"{ACTOR}.ulysses_sequence_parallel_size", 1)
            found |= {
                "tp": 1,
                "pp": 1,
                "ep": 1,
                "cp": max(self.whole(f"{room}.ulysses_sequence_parallel_size", 1) or 1, older or 1),
            }
            found["sharding"] = "zero3"
            self.full_shards(room)
            found["recompute"] = "full" if self.of(f"{MODEL}.enable_gradient_checkpointing", True) else "none"
        away: Callable[[str], bool] = lambda key: self.of(f"{room}.{key}", False) is True  # noqa: E731
        parameters, optimizer = away("param_offload"), away("optimizer_offload")
        found["offload"] = "parameters" if parameters else "optimizer" if optimizer else "none"
        return LayoutGiven.model_validate({key: value for key, value in found.items() if value is not None})

    def full_shards(self, room: str) -> None:
        """Say where FSDP shards less than is counted with."""
        if self.of(f"{room}.fsdp_size", -1) != -1 or self.of(f"{room}.reshard_after_forward", True) is False:
            self.notes.append(
                "evaluated as fully sharded (zero3): fsdp_size and reshard_after_forward are not modelled"
            )

    def micro_batch(self) -> int | None:
        """Sequences of a rank and pass; None where verl fills them by tokens."""
        count = self.whole(f"{ACTOR}.ppo_micro_batch_size_per_gpu")
        if self.of(f"{ACTOR}.use_dynamic_bsz", False) is not True:
            return count
        self.notes.append("micro-batches are filled by tokens (use_dynamic_bsz): the cheapest size that fits is taken")
        return None
