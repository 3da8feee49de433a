"""What every pool candidate of one request is estimated with: shapes, hardware, lengths, calibration, error bands."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates import (
    Calibration,
    Hardware,
    Layout,
    ModelShape,
    Stack,
    Tokens,
    Training,
    framework_names,
    memory_margin,
    planned_framework,
    planned_stack,
    quantile,
    training_engine,
)
from rlopt.estimates.roles import POLICY, moved_params, role_shape, role_training, trained_params
from rlopt.estimates.training.worker import Worker
from rlopt.estimates.uncertainty import planned_sigma
from rlopt.facts import Catalog
from rlopt.problem import Market, Topology
from rlopt.problem.fixed import EVERYTHING, FixedSizes
from rlopt.request import Request
from rlopt.request.job.parts import Kernels
from rlopt.words import LOW_PRECISIONS, Offload, Placement, Precision, StageKind
from rlopt.workloads import Role, Stage, Workload
from rlopt.workloads.variants import Variant

FALLBACK = Precision.BF16
"""What steps of a lower precision fall back to."""


@dataclass(frozen=True, slots=True)
class Context:
    """Inputs of the estimates that all candidates share."""

    request: Request
    catalog: Catalog
    workload: Workload
    market: Market
    hardware: Hardware
    """One row per topology of the market."""
    shapes: Mapping[str, ModelShape]
    """By role."""
    trainings: Mapping[str, Training]
    """By role: what is trained of it."""
    calibration: Calibration
    train_band: np.ndarray
    """exp(z sigma) of update and forward times, times `limits.robust.time`; by topology."""
    rollout_band: np.ndarray
    """The same of generation."""
    gpu_limit: int
    moe: bool = False
    """Whether any role is a mixture of experts: its errors are wider."""
    framework: int = 0
    """Of the sampling loop: index into the calibration's frameworks."""
    in_loop: bool = False
    """Whether the job samples online, so that its passes run inside a loop."""
    once: tuple[Stage, ...] = ()
    """Passes before the first step, over ``once_sequences`` each."""
    once_sequences: float = 0.0
    kernels: Kernels | None = None
    """Kernels of the training stack; those of the job where none."""
    only: FixedSizes = EVERYTHING
    """What is stated of a configuration; nothing where all are searched."""

    def tokens(self, stage: Stage) -> Tokens:
        """Lengths of one stage for the estimates."""
        lengths = stage.lengths
        return Tokens.of(
            lengths.prompt_mean,
            lengths.prompt_max,
            lengths.response_mean,
            lengths.response_max,
            lengths.packed,
            p99=(lengths.prompt_p99, lengths.response_p99),
        )

    def stack(self, layout: Layout, training: Training | None = None) -> Stack:
        """How the training stack that is planned with runs a layout (``training`` None: a scoring pass)."""
        kernels = self.kernels or self.request.job.kernels
        return planned_stack(
            layout,
            training,
            chunked_loss=kernels.loss == "chunked",
            fused_attention=kernels.attention == "fused",
        )

    def worker(self, role: str, layout: Layout, precision: str, training: Training | None = None) -> Worker:
        """A role's model on the stack that is planned with (``training`` None: a scoring pass)."""
        stack = self.stack(layout, training)
        return Worker(self.shapes[role], training, layout, precision, stack, self.calibration)

    def sequences(self, stage: Stage, group_size: int) -> float:
        """Sequences of a stage in one step."""
        return self.workload.sequences(stage, group_size)

    @property
    def instances(self) -> tuple[int, ...]:
        """Numbers of environment instances to choose from; one 0 where the job has no environment."""
        return self.workload.instances or (0,)

    @property
    def scores_frozen(self) -> bool:
        """Whether any frozen model scores on the training pool."""
        frozen = {role.name for role in self.workload.roles if not role.trained}
        return any(stage.role in frozen for stage in self.workload.of_kind(StageKind.SCORE))

    def scored_in(self, update_precision: str, score_precision: str) -> str | None:
        """Least precision of the pool's scoring passes; None where nothing scores.

        Trained models score in the precision they train in, frozen ones in ``score_precision``.
        """
        roles = {stage.role for stage in (*self.workload.of_kind(StageKind.SCORE), *self.once)}
        used = [update_precision if role in self.trainings else score_precision for role in roles]
        return min(used, key=rank, default=None)

    def falls_back(self, precision: str) -> bool:
        """Whether some steps run in 16 bits instead of ``precision``."""
        return precision in LOW_PRECISIONS and self.workload.fallback_share > 0.0

    def held(self, precision: str) -> str:
        """Precision that a scoring model's memory must hold: 16 bits where some steps fall back to them."""
        return FALLBACK if self.falls_back(precision) else precision

    @property
    def moved(self) -> ModelShape:
        """The policy by the weights that every step sends to the engine: those that training changes."""
        parts = [role for role in self.workload.roles if role.name in POLICY]
        return replace(self.shapes["policy"], params=moved_params(parts, self.request.job.trainable))

    @property
    def sent(self) -> ModelShape:
        """The same by what a pool of its own is sent: of a value model that screens what is trained, too."""
        beside = {stage.role for stage in self.workload.screening}
        more = [role for role in self.workload.roles if role.name in beside and role.name not in POLICY]
        return replace(self.moved, params=self.moved.params + moved_params(more, self.request.job.trainable))

    @property
    def screened_in(self) -> str:
        """Precision that a value model screens in beside an engine: 16 bits, or more where the floor asks for it."""
        least = self.request.floors.score_precision
        return max((FALLBACK, least or FALLBACK), key=rank)

    @property
    def state(self) -> ModelShape:
        """The policy by the weights whose training state leaves the GPUs where a pool swaps: all trained models'."""
        moved = float(self.moved.params)
        others = [role for role in self.workload.roles if role.trained and role.name not in POLICY]
        trained = sum(trained_params(role, self.request.job.trainable) for role in others)
        return replace(self.shapes["policy"], params=moved + trained)

    @property
    def asleep_gib(self) -> float:
        """What a sleeping engine keeps beside training on each GPU, GiB; 0 where no pool trains and samples in turn."""
        colocated = self.workload.generates and Placement.COLOCATED in self.request.placements
        return self.calibration.value("memory", "engine_asleep_gib") if colocated else 0.0

    @property
    def staleness(self) -> int:
        """Steps that an asynchronous plan lags: the most offered within the floor, else the least offered."""
        offered, most = self.request.choices.staleness, self.request.floors.max_staleness
        return max((lag for lag in offered if most is None or lag <= most), default=min(offered))

    @property
    def offloads(self) -> tuple[int, ...]:
        """Offload codes that the request allows, nothing offloaded first."""
        return tuple(offload.code for offload in Offload if offload in self.request.choices.offload)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Group sizes in play."""
        return self.workload.group_sizes


def topology_hardware(topologies: tuple[Topology, ...], catalog: Catalog) -> Hardware:
    """Hardware rows of the market's topologies."""
    rows = [(catalog.devices[t.device], t.gpus_per_node, t.intra, t.node_gbps) for t in topologies]
    return Hardware.of(rows, catalog.calibration)


def _shapes(roles: Sequence[Role]) -> dict[str, ModelShape]:
    """Shapes by role; roles of one shape share theirs, so that what is computed for one serves the others."""
    known: dict[Hashable, ModelShape] = {}
    for role in roles:
        known.setdefault(_shape_key(role), role_shape(role))
    return {role.name: known[_shape_key(role)] for role in roles}


def _shape_key(role: Role) -> Hashable:
    return id(role.model), role.outputs, role.patches_per_token


def make_context(
    request: Request,
    catalog: Catalog,
    workload: Workload,
    market: Market,
    gpu_limit: int,
    engine: str | None = None,
    experts: bool = False,
) -> Context:
    """Everything the estimates need, with the error bands at the request's confidence.

    ``experts``: whether another way to run the job has a mixture of experts; rollout pools serve all ways, so the
    wider bands then hold for all.
    """
    hardware = topology_hardware(market.topologies, catalog)
    calibration = catalog.calibration.with_own(request.constants.document if request.constants else None)
    moe = experts or any(role.model.experts > 0 for role in workload.roles)

    framework = framework_names(calibration).index(engine) if engine else planned_framework(calibration)
    loop = (workload.generates, framework_names(calibration)[framework])

    def band(kind: str) -> np.ndarray:
        by_type = np.array([planned_sigma(kind, name, moe, calibration, *loop) for name in hardware.names])
        confident: np.ndarray = quantile(by_type, request.limits.confidence)[hardware.kind]
        return confident * request.limits.robust.time

    return Context(
        framework=framework,
        in_loop=workload.generates,
        request=request,
        catalog=catalog,
        workload=workload,
        market=market,
        hardware=hardware,
        shapes=_shapes(workload.roles),
        trainings={role.name: role_training(request, role) for role in workload.roles if role.trained},
        calibration=calibration,
        train_band=band("training"),
        rollout_band=band("generation"),
        gpu_limit=gpu_limit,
        moe=moe,
    )


def context_of(context: Context, workload: Workload, variant: Variant | None = None) -> Context:
    """The same inputs for another layout of the job: its roles and stages, and what it runs once."""
    return replace(
        context,
        workload=workload,
        shapes=_shapes((*workload.roles, *(variant.once_roles if variant else ()))),
        trainings={role.name: role_training(context.request, role) for role in workload.roles if role.trained},
        once=variant.once if variant else (),
        once_sequences=variant.once_sequences if variant else 0.0,
        kernels=variant.kernels if variant else None,
    )


def margin(context: Context) -> float:
    """Share of memory that stays free for the memory model's own error, whatever the layout: the widest planned."""
    return memory_margin(context.calibration)


def margins(context: Context, layout: Layout) -> np.ndarray:
    """The same by training layout, whose engine decides it; shape of the layouts."""
    engine = training_engine(layout, context.trainings["policy"])
    return context.calibration.by_engine("memory", "margin", engine)


def rank(precision: str) -> int:
    """Order of a precision under a floor."""
    return Precision(precision).rank
