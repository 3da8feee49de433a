"""What is done to the data: cleaning, labelling, compression, versions, and where the data set stands."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

from rlopt.request.job.data_life import Accesses, AccessesByAge, Backup
from rlopt.request.job.prepare import Prepare
from rlopt.request.values.kinds import Name, NotNegative, Number, PartShare, Share, Switch, Whole, WholeOrZero
from rlopt.request.values.quantities import Cash
from rlopt.strict import Strict
from rlopt.words import DataPrecision


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
