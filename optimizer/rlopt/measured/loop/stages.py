"""The stages of measured loops by the planner's own estimates: seconds of updates, scoring and sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import (
    Hardware,
    Layout,
    Loop,
    ModelShape,
    Stages,
    Tokens,
    Training,
    forward_seconds,
    framework_names,
    generation_seconds,
    kv_gib_per_token,
    kv_room_gib,
    rollout_weights_gib,
    serving_engine,
    update_seconds,
)
from rlopt.estimates.codes import Floats, Ints
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch
from rlopt.estimates.sampling.serving import Serving
from rlopt.estimates.training.worker import Worker
from rlopt.facts import Model
from rlopt.facts.calibration import Calibration
from rlopt.measured.loop.fields import LoopFields
from rlopt.words import FULL, ZERO1, ZERO3, Placement

LEAST_SEQUENCES = 4.0
"""Longest sequences that an engine holds whose weights fill its share of the memory by the estimates."""
LOOP_FACTORS = (("generation", "rl_factor"), ("generation", "rl_moe_factor"))
"""What sampling inside a loop costs beyond serving: fitted with the loop, and no part of the stages kept here."""


@dataclass(frozen=True, slots=True)
class LoopCases:
    """Loops as the estimates take them, shape (n,); sampling without the factors of loops."""

    framework: tuple[str, ...]
    placement: tuple[str, ...]
    generation: Ints
    moe: np.ndarray
    images: np.ndarray
    gpus: Floats
    memory_gib: Floats
    params: Floats
    update: Floats
    score: Floats
    sample: Floats
    asynchronous: Floats
    lag: Floats
    expert_width: Floats
    quantised: np.ndarray

    def loop(self, calibration: Calibration) -> Loop:
        """How the loops run, under the codes of ``calibration``."""
        names = framework_names(calibration)
        return Loop(
            framework=np.array([names.index(name) for name in self.framework], dtype=np.int64),
            placement=np.array(self.placement),
            generation=self.generation,
            moe=self.moe,
            images=self.images,
            gpus=self.gpus,
            memory_gib=self.memory_gib,
            params=self.params,
            lag=self.lag,
            expert_width=self.expert_width,
            quantised=self.quantised,
        )

    def stages(self, calibration: Calibration) -> Stages:
        """Seconds of the stages, sampling with the factors of ``calibration``."""
        every, experts = (calibration.at(path) for path in LOOP_FACTORS)
        slower = every * np.where(self.moe, experts, 1.0)
        return Stages(self.update, self.score, self.sample * slower, self.asynchronous * slower)


def stages_of(fields: Sequence[LoopFields], calibration: Calibration) -> LoopCases:
    """Seconds of the stages of every loop."""
    plain = calibration.replaced(dict.fromkeys(LOOP_FACTORS, 1.0))
    seconds = np.array([_seconds(one, plain) for one in fields]).reshape(-1, 4)
    devices = [one.machine.device for one in fields]
    return LoopCases(
        framework=tuple(one.framework for one in fields),
        placement=tuple(one.placement for one in fields),
        generation=np.concatenate([_hardware(one, plain).generation for one in fields]),
        moe=np.array([bool(one.model.experts) for one in fields]),
        images=np.array([one.images for one in fields]),
        gpus=np.array([float(one.gpus_train) for one in fields]),
        memory_gib=np.array([device.memory_gib for device in devices]),
        params=np.array([float(one.model.params) for one in fields]),
        update=seconds[:, 0],
        score=seconds[:, 1],
        sample=seconds[:, 2],
        asynchronous=seconds[:, 3],
        lag=np.array([one.lag for one in fields]),
        expert_width=np.array([_expert_width(one) for one in fields]),
        quantised=np.array([one.engine_precision != "bf16" for one in fields]),
    )


def _expert_width(one: LoopFields) -> float:
    return one.model.expert_ffn / one.engine_tp if one.model.experts else np.inf


def _hardware(one: LoopFields, calibration: Calibration) -> Hardware:
    machine = one.machine
    per_node = min(machine.gpus_per_node, one.gpus)
    return Hardware.of([(machine.device, per_node, machine.intra, machine.node_gbps)], calibration)


def _layout(one: LoopFields) -> Layout:
    parts = {"tp": one.tp, "pp": one.pp, "vp": 1, "dp": one.data_ranks, "cp": one.cp, "ep": one.ep, "etp": 1,
             "sharding": ZERO3 if one.sharded else ZERO1, "micro_batch": one.micro_batch,
             "recompute": FULL, "offload": 0}  # fmt: skip
    return Layout(**{name: np.array([value], dtype=np.int64) for name, value in parts.items()})


def _seconds(one: LoopFields, calibration: Calibration) -> tuple[float, float, float, float]:
    """Updates of all trained models, scoring passes of all models, sampling with its tail and asynchronously."""
    hardware, layout = _hardware(one, calibration), _layout(one)
    tokens = Tokens.of(one.prompt, one.prompt, one.response, one.longest, one.packed)

    def trained(model: Model, rank: int = 0) -> tuple[float, float]:
        """Updates of one model, and one scoring pass."""
        shape = ModelShape.of(model)
        training = Training("lora", lora_rank=rank) if rank else Training("full", in_loop=True)
        trainer = Worker.planned(shape, training, layout, one.precision, calibration)
        scorer = Worker.planned(shape, None, layout, "bf16", calibration)
        update = update_seconds(trainer, hardware, tokens, one.sequences, one.updates)
        score = forward_seconds(scorer, hardware, tokens, one.sequences)
        return float(update[0]), float(score[0])

    update, score = trained(one.model, one.lora_rank)
    score *= one.scores
    if one.critic is not None:
        own, values = trained(one.critic)
        update, score = update + own, score + values
    if one.reward is not None:
        score += trained(one.reward)[1]
    sample = _sampling(one, hardware, calibration, asynchronous=False)
    asynchronous = one.placement == Placement.ASYNC
    return update, score, sample, _sampling(one, hardware, calibration, asynchronous=True) if asynchronous else sample


def _sampling(one: LoopFields, hardware: Hardware, calibration: Calibration, asynchronous: bool) -> float:
    shape, tp = ModelShape.of(one.model), np.array([one.engine_tp])
    weights = rollout_weights_gib(shape, one.engine_precision, tp, 1, calibration)
    room = kv_room_gib(hardware.memory_gib, weights, 0.0, one.placement == Placement.COLOCATED, calibration)
    one_gib = kv_gib_per_token(shape, tp, one.prompt + one.longest) * (one.prompt + one.longest)
    room = np.maximum(room, LEAST_SEQUENCES * one_gib)  # it ran: what did not fit was moved away
    batch = Batch(
        prompt=(one.prompt, one.prompt),
        response=(one.response, one.longest),
        per_replica=np.array([one.sequences / max(one.gpus_sample / one.engine_tp, 1.0)]),
        total=one.sequences,
        group_size=one.samples,
        p99=(None, one.p99),
    )
    engine = serving_engine(framework_names(calibration).index(one.framework), calibration)
    serving = Serving.planned(hardware, calibration, engine)
    replica = Replica(shape, hardware, tp, one.engine_precision, serving, calibration)
    found = generation_seconds(replica, room, batch, not asynchronous, in_flight=1.0 + one.lag if asynchronous else 1.0)
    return float(found.seconds[0])


__all__ = ["LOOP_FACTORS", "LoopCases", "stages_of"]
