"""What each column and key of a validation means: the published schema of ``rlopt validate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "id": "the row's `id`, or `line N` where it has none; a stage of an RL step adds its column (`R001:gen_time_s`)",
    "kind": "training, generation, rl or memory",
    "measured": "the measured cell: a number, or fits / oom; empty where nothing usable was measured",
    "predicted": "the same quantity as the models see it; empty where unsupported",
    "ratio": "predicted / measured, for numbers",
    "status": "predicted or unsupported",
    "reason": "why unsupported",
    "quantity": "which measured column of the file: tokens_per_s_per_gpu, step_time_s, output_tokens_per_s_total, "
    "peak_mem_gib, fits (of `result`), gen_time_s, logprob_time_s, train_time_s, samples_per_s, total_hours",
    "unit": "of measured, predicted, low and high",
    "low": "lower end of the 80 % band of the prediction",
    "high": "its upper end",
    "needed_gib": "memory: GiB that a plan counts with for this run",
    "limit_gib": "memory: needed_gib × (1 + margin), which the measured peak should not exceed",
    "model": "which model the row was taken to be",
    "device": "which GPU",
    "engine": "which training stack or serving engine",
    "source": "who published it, in short",
    "method": "full, lora, qlora or `-`",
    "architecture": "dense or moe",
    "size": "class of the model by parameters (B = 10⁹)",
    "line": "line in the file",
    "note": "defaults that were assumed for blank cells",
}
"""Columns of ``--out`` in their order, and keys of each entry of ``predictions``."""

KEYS: Final[Mapping[str, str]] = {
    "schema": "`rlopt.validation/1`",
    "file": "the file as it was named",
    "rows": "rows of the file",
    "repeated_ids": "ids that stand there more than once",
    "calibration": "`name` and `as_of` of the constants",
    "summary": "by section (training, generation, rl, rl stages, memory, fits): `title`, `all`, `by` (source, device, "
    "size, architecture, method, engine, and quantity for stages: group → statistics), `worst` (ten rows furthest off) "
    "and, for fits, `verdicts` (counts `fits_said_oom` and so on, and the two shares of wrong ones)",
    "unsupported": "`section`, `reason` and `rows`, most frequent first, rows without a measured value too",
    "predictions": "one object per measured value, keys as the columns above, null where there is nothing to say",
}
"""Keys of ``--json``."""

STATISTICS: Final[Mapping[str, str]] = {
    "measured": "rows with a usable measured value",
    "predicted": "of these, with a prediction",
    "unsupported": "of these, without",
    "coverage": "predicted / measured",
    "median_error": "median of |predicted / measured − 1|",
    "p90_error": "its 90th percentile",
    "bias": "exp(median of ln(predicted / measured)) − 1",
    "in_band": "share of measured values inside low … high",
    "over_limit": "memory: share of measured peaks above limit_gib",
}
"""Keys of a group; shares and errors are fractions of one, null where there is nothing to count."""
