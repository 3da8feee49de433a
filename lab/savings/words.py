"""The sentences of docs/savings.md; its numbers are in measurements/published_runs.csv."""

from __future__ import annotations

HEAD = """# What a plan saves, and where it loses

Written by `python -m lab savings` from `measurements/published_runs.csv`; do not edit by hand. The suite fails when
this page is not what that file says.

Many of the examples in `examples/requests/` follow a run that somebody published. Here each plan stands beside those
runs, twice: beside the **same configuration under the same model and prices**, which leaves out all that is wrong with
both, and beside **what the run really took** where its time was published.

- *plan* is the cheapest plan of the example as it stands, its whole bill.
- *configuration* is the same bill for the published GPU type and counts, placement, layout and precisions, as far as
  they were stated. Everything else (checkpoints, micro-batch, where to rent, spot where the example allows it) takes
  its cheapest value, so the configuration is never made dearer than it was.
- A run that breaks a limit of the example has that limit lifted, and it is named. *same limits* is the cheapest plan
  with the same limits lifted. It cannot be dearer than the configuration, which is among its choices: it shows how
  much choosing is worth, not that choosing works.
- *saved* is 1 − plan / published. A negative number is a loss.
- Times of plans and configurations are predictions ([how good](accuracy.md)). An error common to both cancels in the
  first comparison and does not in the second, so the second is also counted for those runs alone whose published
  hours are predicted within a factor of two.
"""

CONFIGURATIONS = """## Against the published configuration, same model and prices
"""

REAL = """## Against what the run really took

*Really paid* is the published GPU-hours at one price of that GPU (*basis*), times the runs that the example expects
(`job.trials`). It is GPU rent alone, while the plan's bill also holds storage, traffic, logs, failures, idle time and
people, which counts against the plan. *Step time × steps* means that a step's time was published and the example's
steps were multiplied. Where the job published is not the example's, hours are shown and nothing is compared.
"""

HELD = """## What was held, and what had to be lifted

*Match* is how the published job resembles the example's; the example's own job is priced in every case.
"""

LOSSES = """## Losses
"""

NO_LOSS = "None.\n"

OFF = """## Predicted hours that are far from the published ones

Off by more than half, for jobs that match. Lengths in the examples are often assumptions (each file says which), and a
step's time is nearly proportional to them.
"""

LEFT_OUT = """## Not compared, and why
"""

FAR = {
    ("02-sft-llama3.1-8b-deadline", "R306"): "38.8 s for 512 sequences: padded to the 4,096 tokens of the recipe that "
    "would be 6,800 tokens/s a GPU, a usual rate; the example assumes 600 tokens on average, packed.",
    ("02-sft-llama3.1-8b-deadline", "R307"): "As above, and the published time is an upper bound.",
    ("04-dpo-olmo2-1b-spot-only", "R284"): "The example assumes 378,000 pairs of 600 tokens a sequence, packed; of "
    "these the source prints none, and the hours as a round 2.",
    ("06-ppo-opt13b-budget", "R111"): "An engine of April 2023 that trains and samples in one framework; plans assume "
    "engines that were measured since.",
    ("06-ppo-opt13b-budget", "R107"): "As above.",
    ("09-grpo-deepcoder-14b-32k-text-log", "R289"): "The source says only that a step took about 2,000 s, on A100 or "
    "H100, with contexts of 16K and 32K tokens; placement and layout are free here and its lengths are assumed.",
}
"""What is known about rows whose hours are far off."""
