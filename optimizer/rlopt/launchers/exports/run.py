"""A plan as the quantities that every launcher asks for, each with its unit in the name.

P prompts of a step (sequences in sft, pairs in dpo and rm), K responses to each, S = P · K samples of a step,
U policy updates a step; a micro-batch is what one data-parallel rank holds at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlopt.answers.plan import Decisions, LayoutChoice, Plan, Pool, Time
from rlopt.errors import SolverError
from rlopt.facts import Model, SkyPilotNames
from rlopt.request import Request
from rlopt.units import GIB
from rlopt.words import StageKind

PAIRED = ("dpo", "rm")
"""Algorithms whose sample is two sequences."""
ENGINE_BYTES = {"fp32": 4.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5, "int4": 0.5}
"""Bytes of a weight in a rollout engine; 2 where it is none of these."""
LEAST_FRACTION, MOST_FRACTION = 0.05, 0.95
"""Between these an engine's share of a card is written."""


@dataclass(frozen=True, slots=True)
class Run:
    """A plan that can be carried out, with the request and the facts that it rests on."""

    plan: Plan
    request: Request
    models: Mapping[str, Model]
    """Facts of each role that is a model."""
    card_gib: Mapping[str, float]
    """Memory of a whole card by GPU name, GiB."""
    skypilot: SkyPilotNames = field(default_factory=SkyPilotNames)

    @property
    def made(self) -> Decisions:
        """What was decided beside the pools."""
        if self.plan.decisions is None:
            raise SolverError("a plan without decisions cannot be exported")
        return self.plan.decisions

    @property
    def time(self) -> Time:
        """When the run is done."""
        if self.plan.time is None:
            raise SolverError("a plan without time cannot be exported")
        return self.plan.time

    @property
    def algorithm(self) -> str:
        """As the request names it."""
        return self.request.job.algorithm

    @property
    def generates(self) -> bool:
        """Whether it samples online."""
        return self.request.job.generates

    @property
    def prompts(self) -> int:
        """P."""
        return self.request.job.prompts_per_step

    @property
    def group(self) -> int:
        """K; 1 where nothing is sampled."""
        return self.made.group_size or 1

    @property
    def offline_updates(self) -> int:
        """Steps of a launcher in one of the plan, where each of its steps is an update: without sampling."""
        return 1 if self.generates else self.updates

    @property
    def updates(self) -> int:
        """U."""
        return self.request.job.updates_per_step

    @property
    def steps(self) -> int:
        """Steps of one run."""
        return self.time.steps

    @property
    def prompt_tokens(self) -> int:
        """Longest prompt."""
        return self.request.job.prompt_tokens.max

    @property
    def response_tokens(self) -> int:
        """Longest response."""
        return self.request.job.response_tokens.max

    @property
    def sequence_tokens(self) -> int:
        """Longest sequence: prompt and response."""
        return self.prompt_tokens + self.response_tokens

    @property
    def trainer(self) -> Pool:
        """The pool that updates the policy, and also samples where everything is colocated."""
        return next(pool for pool in self.plan.pools if StageKind.TRAIN in pool.roles)

    @property
    def layout(self) -> LayoutChoice:
        """Parallel layout of the trainer."""
        return self.trainer.layout or LayoutChoice()

    @property
    def samplers(self) -> tuple[Pool, ...]:
        """Pools that only sample, the largest share of the samples first; () where the trainer samples."""
        found = [pool for pool in self.plan.pools if StageKind.SAMPLE in pool.roles and pool is not self.trainer]
        return tuple(sorted(found, key=lambda pool: -(pool.share if pool.share is not None else 1.0)))

    @property
    def scorers(self) -> tuple[Pool, ...]:
        """Pools of GPUs that only score."""
        busy = {self.trainer.name, *(pool.name for pool in self.samplers)}
        return tuple(pool for pool in self.plan.pools if pool.gpus and pool.name not in busy)

    @property
    def colocated(self) -> bool:
        """Whether the trainer samples."""
        return self.generates and not self.samplers

    @property
    def micro_batch(self) -> int:
        """Sequences that a rank holds at once, pairs in dpo and rm: one at least."""
        held = self.layout.micro_batch or 1
        return max(1, held // 2) if self.algorithm in PAIRED else held

    @property
    def halves_a_pair(self) -> bool:
        """Whether the plan holds less than a pair at once, which no launcher can."""
        return self.algorithm in PAIRED and (self.layout.micro_batch or 1) < 2

    @property
    def keep_recent(self) -> int:
        """Resumable copies that are kept."""
        return self.request.floors.checkpoints.keep_recent or 1

    @property
    def save_steps(self) -> int:
        """Steps between two saves."""
        return self.made.checkpoint.interval_steps

    def degree(self, name: str) -> int:
        """A degree of the trainer's layout; 1 where it does not apply."""
        return getattr(self.layout, name) or 1

    def engine_tp(self, pool: Pool) -> int:
        """Tensor parallel degree of the rollout engine on a pool."""
        layout = pool.layout or LayoutChoice()
        return (layout.rollout_tp if pool is self.trainer else layout.tp) or 1

    def engine_ep(self, pool: Pool) -> int:
        """Its expert parallel degree."""
        layout = pool.layout or LayoutChoice()
        return (layout.rollout_ep if pool is self.trainer else layout.ep) or 1

    def engine_fraction(self, pool: Pool) -> float | None:
        """Share of a card that the rollout engine may take, down to a hundredth; None where memory is not told.

        Alone on its machines: what the plan needs there. Colocated: the engine's own part where sampling is the
        plan's peak, else all that the training states which stay on the card leave free.
        """
        memory, card = pool.memory, self.card_gib.get(pool.gpu or "")
        if memory is None or not card:
            return None
        if pool is not self.trainer:
            gib = memory.needed_gib
        else:
            parts = memory.parts
            each = ENGINE_BYTES.get(self.made.precision.rollout or "bf16", 2.0)
            engine = self.models["policy"].params * each / GIB / max(self.engine_tp(pool), self.engine_ep(pool))
            held = parts.get("weights", 0.0) - (engine if memory.stage == StageKind.SAMPLE else 0.0)
            states = (
                max(held, 0.0)
                + parts.get("optimizer", 0.0)
                + parts.get("gradients", 0.0) * (memory.stage == StageKind.SAMPLE)
            )
            gib = (memory.needed_gib if memory.stage == StageKind.SAMPLE else memory.capacity_gib) - states
        return min(max(int(100.0 * gib / card) / 100.0, LEAST_FRACTION), MOST_FRACTION)

    def budget_tokens(self, split: int) -> int:
        """Tokens of a micro-batch on one GPU: micro-batch · longest sequence over ``split`` GPUs, rounded up."""
        return -(-self.micro_batch * self.sequence_tokens // split)

    def stage_seconds(self, *stages: str) -> float:
        """Seconds of a step in these stages, added up over pools; 0 where there is none."""
        return sum(one.seconds for one in self.time.stages if one.stage in stages)
