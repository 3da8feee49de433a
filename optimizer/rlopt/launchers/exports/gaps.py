"""What no trainer's configuration takes: each fact of the plan that would be lost becomes a line with what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.run import Run

DEGREES: Final = ("tp", "pp", "cp", "ep")


def merges(run: Run, kept: Sequence[str]) -> bool:
    """Whether the plan has a degree above 1 that is not among those kept."""
    return any(run.degree(name) > 1 for name in DEGREES if name not in kept)


def merged_gaps(run: Run, kept: Sequence[str]) -> list[Gap]:
    """The gap that such a layout is; none where the launcher knows all of it."""
    lost = [f"{name} {run.degree(name)}" for name in DEGREES if name not in kept and run.degree(name) > 1]
    if not lost:
        return []
    do = "everything is sharded over all GPUs instead (zero3): another plan; verl and nemo-rl know these degrees"
    return [Gap(f"a layout with {', '.join(lost)}", do, True)]


def common_gaps(run: Run, tagged: bool = False) -> list[Gap]:
    """Of every launcher alike; ``tagged``: it takes the job's tags."""
    return [*_limits(run, tagged), *_machines(run), *_copies(run), *_samples(run), *_work(run)]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def frozen_gaps(run: Run, *known: str) -> list[Gap]:
    """Frozen parts that a launcher has no key for."""
    parts = [part for part in run.request.job.trainable.frozen if part not in known]
    if not parts:
        return []
    return [Gap(f"frozen parts: {', '.join(parts)}", "freeze them in code: no key; all is trained otherwise", True)]


def _limits(run: Run, tagged: bool) -> Iterator[Gap]:
    limits, time, cost = run.request.limits, run.time, run.plan.cost
    if limits.deadline is not None:
        says = f"a deadline of {limits.deadline / 3600.0:,.1f} h, kept with {time.confidence:.0%} confidence"
        yield Gap(says, f"watch the hours; half of all runs are done after {time.expected_hours:,.1f} h")
    if run.request.budget_usd is not None and cost is not None:
        says = f"a budget of {run.request.budget_usd:,.0f} USD for a plan of {cost.total_usd:,.2f} USD"
        yield Gap(says, "set budget alerts with rlopt solve --tags-out")
    if run.request.job.steps is not None and run.steps < run.request.job.steps:
        says = f"the plan is of the last {run.steps:,} of {run.request.job.steps:,} steps"
        yield Gap(
            says, "where the launcher counts from the first, raise its number of steps, and resume from the checkpoint"
        )
    if run.request.job.trials > 1:
        yield Gap(
            f"{run.request.job.trials} trials", "start the job as often; each needs a checkpoint folder of its own"
        )
    if run.plan.tags and not tagged:
        yield Gap(
            counted(len(run.plan.tags), "tag"), "put them on the machines; rlopt solve --tags-out writes them per cloud"
        )


def _machines(run: Run) -> Iterator[Gap]:
    pools = [pool for pool in run.plan.pools if pool.gpus]
    for pool in pools:
        if pool.pricing not in ("on_demand",):
            says = f"pool {pool.name} is {pool.pricing}"
            kept = f"saves every {run.save_steps} steps are what a reclaimed machine falls back on"
            yield Gap(says, kept if pool.pricing == "spot" else "book the reservation before the start")
    if len({pool.gpu for pool in pools}) > 1:
        kinds = ", ".join(f"{pool.name} on {pool.gpu}" for pool in pools)
        yield Gap(f"pools of different GPUs ({kinds})", "see that each part starts on its own kind of machine", True)
    for pool in run.plan.pools:
        if not pool.gpus:
            place = "/".join(part for part in (pool.provider, pool.region) if part)
            says = f"{pool.nodes} x {pool.instance_type} at {place} for {', '.join(pool.roles)}"
            yield Gap(says, "rent it beside the GPUs")
    spare = (run.made.recovery or {}).get("spare_nodes")
    if spare:
        yield Gap(f"{spare} spare machines stand ready", "rent them; the launcher does not take them in by itself")


def _copies(run: Run) -> Iterator[Gap]:
    saved, floor = run.made.checkpoint, run.request.floors.checkpoints
    where = ", ".join(f"{' and '.join(use.roles)} in {use.tier}" for use in saved.tiers)
    if where:
        yield Gap(f"checkpoints: {where}", "mount or copy to these stores")
    for move in saved.moves:
        says = f"{move.role} copies move to {move.to} after {counted(round(move.after_hours / 24.0), 'day')}"
        yield Gap(says, "make it a rule of the store; rlopt solve --tags-out writes it")
    if floor.keep_best:
        yield Gap(
            f"{counted(floor.keep_best, 'best copy', 'best copies')} of the weights",
            "copy them aside after an evaluation",
        )
    if floor.history_every:
        yield Gap(
            f"the weights of every {floor.history_every} steps are kept", "copy them aside before they are rotated"
        )
    if floor.recovery_time:
        yield Gap(f"a recovery within {floor.recovery_time / 60.0:g} min", "try a restart from a checkpoint once")
    if saved.compressed:
        yield Gap("checkpoints are compressed before upload", "compress them in the upload")
    if (run.made.recovery or {}).get("rollouts_every"):
        yield Gap("unfinished responses are copied", "the launcher starts a lost response anew")


def _samples(run: Run) -> Iterator[Gap]:
    job, made = run.request.job, run.made
    rate = made.logging.text_log_rate
    if rate > 0.0:
        where = "an object store" if made.logging.kept_in == "store" else "a logging service"
        yield Gap(f"{rate:.1%} of the samples' text is logged to {where}", "log all or none, and keep that share")
    if made.precision.score and made.precision.score != made.precision.update:
        says = f"scoring passes run in {made.precision.score}, updates in {made.precision.update}"
        yield Gap(says, "scoring runs as updates do", True)
    if run.algorithm == "dpo" and job.models.reference is not None and job.models.reference.is_none:
        yield Gap("pairs are learned without a reference", "the launcher loads one: plan with reference: policy", True)
    if job.vision is not None and run.algorithm != "vla":
        yield Gap("prompts hold images", "name the launcher's image column and its limits")
    if job.filter.drop > 0.0:
        says = f"{job.filter.drop:.0%} of the samples are dropped before the update"
        yield Gap(says, "filter them in the reward or the loop; without it updates take longer", True)
    if job.cache_hit_rate > 0.0:
        yield Gap(f"{job.cache_hit_rate:.0%} of the samples are reused", "serve them from your cache", True)
    if made.screening:
        yield Gap("samples are screened by their value", "screen them before they are stored", True)


def _work(run: Run) -> Iterator[Gap]:
    made, job = run.made, run.request.job
    if made.scoring is not None:
        count = counted(made.scoring.get("processes") or 0, "process", "processes")
        yield Gap(f"rewards are scored by {count} on CPUs", "serve the reward model there, and call it for the reward")
    if made.storage:
        kept = ", ".join(f"{one.item} in {one.tier}" for one in made.storage)
        yield Gap(f"kept beside the checkpoints: {kept}", "put them into these stores")
    if made.operations is not None:
        yield Gap(
            f"machines are given back ({made.operations.get('release')})", "see that they are when the run is done"
        )
    if made.action_head is not None:
        yield Gap(f"the policy acts by {made.action_head}", "choose that head in the trainer")
    if made.data is not None and "cleaned" in made.data:
        done = "are cleaned first" if made.data["cleaned"] else "stay as they are, with more epochs"
        yield Gap(f"the data {done}", "prepare the data set so")
    if made.load is not None and made.load.nodes:
        says = f"{made.load.nodes} machines of {made.load.vcpus} vCPUs prepare samples"
        yield Gap(says, "feed the training machines from them", True)
    if job.pairs is not None:
        yield Gap("preference pairs are made before the first step", "make them first; they are another job")
    if run.plan.phases:
        yield Gap(
            f"before it: {', '.join(phase.name for phase in run.plan.phases)}", "plan and run these as jobs first"
        )
    if job.evaluation is not None:
        says = f"an evaluation of {job.evaluation.samples} samples every {job.evaluation.every} steps"
        yield Gap(says, "give it its data set; the launcher's own default number of samples stands")
