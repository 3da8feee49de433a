"""What is done to the data: pairs made first, preparation, cleaning, labelling, versions, where the data set stands."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

from rlopt.request.job.data_life import Accesses, AccessesByAge, Backup
from rlopt.request.values.kinds import Count, Name, NotNegative, Number, PartShare, Share, Switch, Whole, WholeOrZero
from rlopt.request.values.quantities import Cash, Pause, Size
from rlopt.request.values.refs import ModelRef
from rlopt.strict import Strict
from rlopt.words import DataPrecision

DataStore = Literal["object", "filesystem", "block"]


class Prepare(Strict):
    """Work on the processors before a sample can be trained on."""

    vcpu_seconds_per_sample: NotNegative = 0.0
    """Seconds of one virtual CPU to decode, augment and shuffle one sample: a sequence (sft), a pair (dpo, rm), a
    trajectory that is used again (vla)."""
    memory_per_vcpu: Size | None = None
    """Memory that each virtual CPU of a preparation machine needs, in bytes; none beyond the machine's own when left
    out."""
    host_share: Annotated[float, Number(0.0, 1.0, example="0.5")] | None = None
    """Share of the training machines' own virtual CPUs that prepares samples; the catalog's assumption when left
    out."""


class Pairs(Strict):
    """How the pairs of a dpo or rm job are made, once, on machines of their own: best against worst of each prompt."""

    candidates: Annotated[int, Count(2, example="4")] = 4
    """Responses sampled to each prompt."""
    generator: ModelRef = ModelRef(keyword="policy")
    """Model that samples: policy (as it is before training), or a model."""
    judge: ModelRef
    """Model that scores every response, or rule: a program does."""
    pairs_per_prompt: Whole = 1
    """Pairs kept of each prompt."""
    deadline: Pause | None = None
    """Longest time of the phase, at the request's confidence; it ends before the job starts, and the job's own deadline
    does not count it."""


class Versions(Strict):
    """Versions of the data set that are kept side by side."""

    count: Whole = 1
    """Versions, the first included."""
    changed_share: Share = 1.0
    """Share of the samples that differ from the version before."""
    copies: Literal["full", "delta"] = "full"
    """full: each version whole | delta: the first whole, of the others what changed."""
    raw_kept: Switch = False
    """The raw data are kept beside what was cleaned or compressed."""


class StandsIn(Strict):
    """Where the data set stands at the start: reading it from elsewhere is traffic."""

    provider: Name
    """Provider whose storage holds it."""
    region: Name
    """Region of that storage."""


class Inspect(Strict):
    """Samples that people look at."""

    share: Share
    """Share of the samples collected, or of the data set where none are new."""
    price: Cash
    """Price of looking at one sample."""


class DataWork(Strict):
    """What is done to the data, and what it costs."""

    extra_epochs_if_dirty: NotNegative = 0.0
    """Share of epochs (or steps) added while the data are not cleaned; 0.3 is 30 % more."""
    cleaned: Switch = False
    """The data are clean already; if not and clean_price is given, cleaning is a decision."""
    clean_price: Cash | None = None
    """Price of cleaning one sample."""
    label_price: Cash | None = None
    """Price of one newly labelled sample."""
    new_samples: WholeOrZero = 0
    """Samples that are bought new, those that pass the quality check."""
    collect_price: Cash | None = None
    """Price of collecting one sample."""
    accepted_share: Annotated[float, Number(0.0, 1.0, low_open=True, example="0.8")] = 1.0
    """Share of new samples that pass the quality check; those that do not are collected, labelled and paid too."""
    inspect: Inspect | None = None
    """Samples checked by hand; none when left out."""
    tools: Cash | None = None
    """Price of data tools for a month of 730 h; paid for the hours of all runs."""
    compression_ratio: Annotated[float, Number(0.0, 1.0, low_open=True, example="0.3")] = 1.0
    """Stored size / raw size."""
    duplicate_share: PartShare = 0.0
    """Share of duplicates, which are not stored."""
    incremental: Switch = False
    """Train on the new samples only, not on the whole data set again."""
    versions_kept: WholeOrZero = 0
    """Earlier trainings whose weights and added samples stay stored (incremental)."""
    precision: DataPrecision = DataPrecision.SOURCE
    """How images and numbers are stored: source | bf16 | jpeg95 | jpeg90 | jpeg75 (JPEG quality)."""
    versions: Versions | None = None
    """Versions kept side by side; one, without its raw form, when left out."""
    shared_by: Whole = 1
    """Projects that share one stored data set: each pays its part."""
    accesses_per_month: AccessesByAge = Accesses()
    """How often stored data are read beside the runs: one number for all, or {hot, warm, cold}."""
    backup: Backup = Backup()
    """Backups of the data set; none when left out."""
    stands_in: StandsIn | None = None
    """Where the data set stands at the start; beside the training pool when left out."""
    prepare: Prepare = Prepare()
    """Decoding and shuffling of samples (sft, dpo, rm; vla where trajectories are used again)."""

    @property
    def collected(self) -> int:
        """New samples that are paid for, rejected ones included: ceil(new_samples / accepted_share)."""
        return math.ceil(Fraction(self.new_samples) / Fraction(str(self.accepted_share)))
