"""The job: which algorithm trains which models on how much, and how often."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import Field

from rlopt.request.job.cache import Cache
from rlopt.request.job.data_life import Compression
from rlopt.request.job.data_work import DataWork, Pairs
from rlopt.request.job.metrics import Metrics, Target, TextLog
from rlopt.request.job.models import Models
from rlopt.request.job.options import OPEN_ROLES
from rlopt.request.job.parts import Action, Environment, Evaluation, Fallback, Filter, Kernels, Offline, VisionInput
from rlopt.request.job.trainable import Trainable
from rlopt.request.job.waiting import Pilots
from rlopt.request.values.kinds import Label, Name, NotNegative, Number, Positive, Share, Switch, Whole
from rlopt.request.values.lengths import NO_TEXT, Length, Response, Trajectory
from rlopt.request.values.quantities import Moment, Size
from rlopt.request.values.steps_table import StepsKind, StepsTable, longest, steps_of
from rlopt.strict import Strict
from rlopt.words import AlgorithmName

Optimizer = Literal["adamw", "adamw_bf16", "adamw_8bit"]
GENERATING: Final = ("ppo", "grpo", "opd", "vla")
"""Algorithms that sample online: they have a rollout pool, a group size and a staleness."""
SEQUENCES_PER_SAMPLE: Final[Mapping[str, int]] = {"dpo": 2, "rm": 2}
"""A preference pair is two sequences; everything else is one."""


class Job(Strict):
    """What is trained, on what, and for how long."""

    name: Name = "job"
    """Name that reports print."""
    algorithm: AlgorithmName
    """sft | dpo | rm | ppo | grpo | opd | vla."""
    tags: dict[Label, Label] = Field(default_factory=dict)
    """Free labels, written to launchers and bills."""
    models: Models
    """The roles' models."""
    trainable: Trainable = Trainable(kind="full")
    """full | {lora_rank: 32, base: bf16|int4} | {frozen: [vision, backbone, embeddings, head, action]}."""
    optimizer: Optimizer = "adamw"
    """adamw: fp32 master weights and moments | adamw_bf16 | adamw_8bit."""
    prompts_per_step: Whole
    """Prompts of one step: sequences (sft), pairs (dpo, rm), trajectories (vla)."""
    steps: Whole | None = None
    """Steps of one run; exactly one of steps, epochs + dataset_samples, convergence and value_convergence is given."""
    epochs: Positive | None = None
    """Passes over dataset_samples: steps = ceil(epochs × dataset_samples / prompts_per_step)."""
    dataset_samples: Whole | None = None
    """Samples in the data set."""
    convergence: Annotated[StepsTable, StepsKind()] | None = None
    """Group size to steps, where one without an entry is excluded; or action head to steps, or to such a map (vla)."""
    value_convergence: dict[Whole, Whole] | None = None
    """Bins of the value model to steps (vla); a number of bins without an entry is excluded."""
    dataset_size: Size | None = None
    """Stored size of the data set in bytes; derived from lengths when left out."""
    prompt_tokens: Length
    """Tokens of a prompt."""
    response_tokens: Response = NO_TEXT
    """Tokens of a response; required unless the algorithm is vla, which has none."""
    packing: Switch = True
    """Sequences share a batch row; false pads each to the maximum in update and forward."""
    trials: Whole = 1
    """Expected full runs, tuning included: time is one run's, the bill is all of them."""
    ppo_epochs: Whole = 1
    """Passes of updates over the same samples."""
    updates_per_step: Whole = 1
    """Policy updates per step (mini-batches)."""
    pass_rate: Annotated[float, Number(0.0, 1.0, low_open=True, high_open=True, example="0.4")] | None = None
    """Mean success probability of one sample; with floors.informative_groups it sets a floor for K."""
    cache_hit_rate: Share = 0.0
    """Share of samples that are reused instead of generated."""
    vision: VisionInput | None = None
    """Images of one observation or prompt."""
    action: Action | None = None
    """How the policy acts (vla)."""
    trajectory: Trajectory | None = None
    """Length of a trajectory on the robot's clock (vla)."""
    value_stride: Moment | None = None
    """Robot-clock time between two scores of the value model; one per inference when left out (vla)."""
    filter: Filter = Filter()
    """Samples dropped before the policy update."""
    offline: Offline | None = None
    """Stored data on which the value model is trained before the first step (vla)."""
    environment: Environment | None = None
    """Tools, simulators or robots that the policy acts on."""
    data: DataWork = DataWork()
    """Cleaning, labelling, compression."""
    pairs: Pairs | None = None
    """Preference pairs that are made before the first step (dpo, rm); null: they are there."""
    kernels: Kernels = Kernels()
    """Kernels of the training stack: its loss and its attention."""
    evaluation: Evaluation | None = None
    """Evaluation during training; none when left out."""
    metrics: Metrics = Metrics()
    """Time series that the run writes."""
    text_log: TextLog = TextLog()
    """Text of abnormal samples and of steps that are debugged."""
    cache: Cache | None = None
    """What is held in a fast store; none when left out."""
    divergences: NotNegative = 0.0
    """Collapses that one run is expected to see: each goes back to the last history copy; 0 when left out."""
    pilots: Pilots | None = None
    """Small controlled runs before the job; none when left out."""
    compression: Compression = Compression()
    """What may be compressed before it is stored; nothing when left out."""
    remedial_share: NotNegative = 0.0
    """Tokens trained again against forgetting, as a share of the job's own (sft)."""
    fallback: Fallback = Fallback()
    """Steps that leave the low precision."""
    target: Target | None = None
    """Metric that the job moves; the plan says what a point of it costs. No plan is chosen by it."""

    @property
    def generates(self) -> bool:
        """Whether the algorithm samples online."""
        return self.algorithm in GENERATING

    @property
    def cleaning_is_open(self) -> bool:
        """Whether cleaning the data is a decision of the optimizer."""
        return not self.data.cleaned and self.data.clean_price is not None

    @property
    def value_stride_seconds(self) -> float | None:
        """Robot-clock seconds between two value scores; None without a vla action."""
        if self.value_stride is not None or self.action is None:
            return self.value_stride
        return self.action.chunk / self.action.frequency

    @property
    def frames_per_trajectory(self) -> float:
        """Frames of one mean trajectory that are stored: one for each score of the value model, else each inference."""
        stride = self.value_stride_seconds
        return 0.0 if self.trajectory is None or not stride else self.trajectory.mean / stride

    @property
    def trajectory_image_bytes(self) -> float:
        """Encoded images of one trajectory, before compression: cameras · bytes_per_frame · frames; 0 if not given."""
        seen = self.vision
        if seen is None or seen.bytes_per_frame is None:
            return 0.0
        return seen.cameras * seen.bytes_per_frame * self.frames_per_trajectory

    def steps_for(
        self,
        group_size: int | None = None,
        *,
        cleaned: bool | None = None,
        value_bins: int | None = None,
        head: str | None = None,
        table: dict[int, int] | None = None,
    ) -> int | None:
        """Steps of one run.

        steps = ceil(base × (1 + extra_epochs_if_dirty while dirty)), with base = `steps`, or
        epochs × samples / prompts_per_step, or an entry of the convergence or value_convergence table. `samples`
        are the data set's, or the new ones alone where training is incremental. Exact in decimal fractions.

        Parameters
        ----------
        group_size
            K; only the convergence table reads it.
        cleaned
            Whether the data are clean when training starts; as the request states when None.
        value_bins
            Bins of the value model; only the value_convergence table reads them, and its longest run is meant
            when None.
        head
            How the policy acts; only a convergence table by head reads it, and the stated one is meant when None.
        table
            Group size to steps of the model chosen, where it has a table of its own: it takes the job's place.

        Returns
        -------
        int or None
            None where a table has no entry for `group_size`, `value_bins` or `head`.
        """
        base = self._base_steps(group_size, value_bins, head, self.convergence if table is None else table)
        if base is None:
            return None
        if not (self.data.cleaned if cleaned is None else cleaned):
            base *= 1 + Fraction(str(self.data.extra_epochs_if_dirty))
        return max(1, math.ceil(base))

    def _base_steps(
        self, group_size: int | None, value_bins: int | None, head: str | None, table: StepsTable | None
    ) -> Fraction | None:
        """Steps on clean data, before they are rounded up; None where a table has no entry."""
        if table is not None:
            stated = self.action.head if self.action is not None else None
            entry = steps_of(table, group_size, head or stated)
            return None if entry is None else Fraction(entry)
        if self.value_convergence is not None:
            bins = self.value_convergence
            entry = max(bins.values(), default=None) if value_bins is None else bins.get(value_bins)
            return None if entry is None else Fraction(entry)
        if self.steps is not None:
            return Fraction(self.steps)
        if self.epochs is not None and self.dataset_samples is not None:
            samples = self.data.new_samples if self.data.incremental else self.dataset_samples
            return Fraction(str(self.epochs)) * samples / self.prompts_per_step
        return None

    @property
    def _steps_of_models(self) -> tuple[int, ...]:
        """Steps stated of single models of a choice."""
        choices = (getattr(self.models, role) for role in OPEN_ROLES)
        options = (option for choice in choices if choice is not None for option in choice.options)
        return tuple(steps for option in options for steps in (option.convergence or {}).values())

    @property
    def reads_stored(self) -> bool:
        """Whether a job that samples its own data reads stored trajectories too, in its steps or before the first."""
        return self.algorithm == "vla" and (self.cache_hit_rate > 0.0 or self.offline is not None)

    def sample_bytes(self, bytes_per_token: float) -> float:
        """Raw size of one sample of the data set in bytes: a sequence (sft), a pair (dpo, rm), else a prompt.

        `dataset_size` / `dataset_samples` where both are given, otherwise its text.
        """
        if self.dataset_size is not None and self.dataset_samples is not None:
            return self.dataset_size / self.dataset_samples
        responses = 0 if self.generates else SEQUENCES_PER_SAMPLE.get(self.algorithm, 1)
        return (self.prompt_tokens.mean + responses * self.response_tokens.average) * bytes_per_token

    def dataset_bytes(self, bytes_per_token: float) -> float:
        """Raw size of the data set in bytes, before compression and deduplication.

        `dataset_size` where it is given; otherwise samples × tokens × bytes per token. Prompts alone count
        where responses are generated; a pair holds two responses. Without `dataset_samples` every step
        brings new prompts (the most there can be). A vla job collects its data and starts from none, unless
        `dataset_samples` trajectories are there and `vision.bytes_per_frame` says what their images take.
        """
        if self.dataset_size is not None:
            return self.dataset_size
        if self.algorithm == "vla":
            stored = max(self.dataset_samples or 0, 0 if self.offline is None else self.offline.samples)
            return stored * self.trajectory_image_bytes
        steps = max(self.steps or 0, longest(self.convergence or {}), *self._steps_of_models, 0)
        samples = self.dataset_samples or self.prompts_per_step * steps
        return samples * self.sample_bytes(bytes_per_token)
