"""The sentences of docs/accuracy.md; its numbers are in `lab.accuracy.page`."""

from __future__ import annotations

HEAD = """# How far predictions can be trusted

Written by `python -m lab accuracy` from files in `measurements/`; do not edit by hand. The suite fails when this
page is not what those files say.

Every error here is **out of sample**: constants were fitted without the row that is predicted. A fit's own
residuals flatter, so none stand here. `rlopt validate` does the same comparison for your own file.

- *error* is |predicted / measured − 1|; *median* and *9 in 10* are its 50th and 90th percentile.
- *bias* is what the typical prediction is above (+) or below (−) the measured value. Training time is compared
  as tokens/s where the source prints that, so a positive bias there is too fast.
- *in band* is the share of measured values inside the 80 % band of their prediction. Between 75 and 85 % is
  honest; more is needlessly wide, less is too sure.
- The measurements are published runs of many authors ([what they are](../measurements/README.md)). The same printed
  configuration, run twice by the same authors, commonly differs by 1 to 2 %, now and then by half.
"""

SCHEMES = {
    "fold": "five folds, rows of one printed configuration kept out together",
    "source": "everything of one source kept out",
    "device": "everything on one GPU type kept out",
    "model": "everything of one model kept out",
}

SCHEMES_INTRO = """How much is kept out decides how hard the question is. Five folds ask about a new setting of things
that were measured before; the other three ask about a source, a GPU or a model that was never seen.
"""

COVERAGE = """Rows are refused, never guessed, when something that decides the answer is missing. Each refusal has its
reason in the output of `rlopt validate`; these are counts over the shipped files, rows without a measured value
and the times of tiny functional tests left out.
"""

FITS = """For runs of which only the end is known. These rows are mostly users' reports with partial settings, so
they test how rules meet reality more than they test a formula. Predicted with the shipped constants.
"""

WORST = """The ten rows of each kind that five-fold predictions miss by most, and what is known about each.
"""

TRUST_BY_HAND = (
    "**A GPU, engine or model family that was never measured.** Read the rows *one source*, *one GPU type* and "
    "*one model kept out* above, not the first one. Plans say so in a warning and widen their band.",
    "**Ranking two plans that are closer than the median error.** The cheaper of two plans 3 % apart is a coin toss "
    "as far as time goes; that the bill is right for the predicted time is another matter.",
    "**Software versions.** Releases of one engine a year apart differ by 20 to 80 % on the same configuration "
    "(mixtures of experts most). Predictions stand for the releases that were measured.",
    "**Runs whose response lengths are a guess.** A step's time is nearly proportional to the mean response "
    "length, and the longest response ends it. A wrong length is a wrong step, however good the model.",
    "**The first steps.** Compilation, warm-up and cold caches are not in the measured steps.",
    "**Memory to the last GiB.** Allocators fragment and logits spike; that is what the margin is for. A run that "
    "fits by less than the margin is said not to fit.",
    "**Host memory, disks, tool servers and simulators.** Their times are stated by the request or derived from "
    "nominal rates; no measurements were fitted.",
)
