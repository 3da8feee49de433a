"""Evaluations made by hand: of a configuration that fits and breaks a limit, and of one that does not fit."""

from __future__ import annotations

from rlopt.answers.evaluation import Broken, ConfigurationEvaluation, Misfit, Remedy, Said, StageNeed
from rlopt.studies.diff import difference
from tests.reports import plans


def of_fit() -> ConfigurationEvaluation:
    """A dearer plan than the optimum that breaks the budget, on a GPU that the request does not name."""
    optimum, mine = plans.optimal(), plans.faster()
    parts = {"weights": 14.0, "optimizer": 20.5, "activations": 31.25, "buffers": 4.0}
    memory = StageNeed(pool="main", stage="update policy", needed_gib=69.75, capacity_gib=72.0, parts=parts)
    own = {"weights": 14.0, "kv_cache": 40.0}
    memories = [memory, StageNeed(pool="main", stage="generate", needed_gib=54.0, capacity_gib=72.0, parts=own)]
    return ConfigurationEvaluation(
        name="mine.yaml",
        fits=True,
        memory=memories,
        stated=[Said(key="pools.main.gpu", value="H100"), Said(key="pools.main.layout.tp", value=2)],
        taken=[Said(key="decisions.checkpoint.interval_steps", value=50)],
        breaks=[Broken(constraint="limits.budget", value=1234.567, limit=1000.0, unit="USD")],
        outside=["choices.gpus"],
        notes=["GPUs of one machine are joined by nvswitch: link is not stated"],
        plan=mine,
        optimum=optimum,
        difference=difference(mine, optimum, ("mine.yaml", "the optimum")),
    )


def of_misfit() -> ConfigurationEvaluation:
    """A pool whose update lacks memory, and two changes that mend it."""
    parts = {"optimizer": 85.1, "weights": 14.2, "gradients": 28.4, "activations": 42.4}
    memory = StageNeed(pool="main", stage="update policy", needed_gib=170.1, capacity_gib=72.0, parts=parts)
    reason = (
        "training the policy takes 170.1 GiB on each A100-PCIe-80GB, of which 72.0 GiB can be used: 98.1 GiB are "
        "missing. The largest part is optimizer with 85.1 GiB"
    )
    remedies = [
        Remedy(key="job.trainable", before="full", after="lora_rank: 32", total_usd=5.52, expected_hours=2.7),
        Remedy(key="gpus", before=1, after=4, total_usd=3.99, expected_hours=1.5, breaks=["limits.max_gpus"]),
    ]
    why = Misfit(pool="main", reason=reason, stage="update policy", part="optimizer", part_gib=85.1, remedies=remedies)
    return ConfigurationEvaluation(name="mine.yaml", fits=False, memory=[memory], misfit=why, optimum=plans.optimal())
